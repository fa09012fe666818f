import { readFile } from 'node:fs/promises'
import { isLoopback } from '../../core/http-port.ts'
import { messageOf, QuintainError } from '../../core/index.ts'
import type { Door } from './door.ts'

/** Fewer characters can be guessed by who may ask often. */
const leastCharacters = 16

export interface TokenSource {
  /** Name of the environment variable that holds it. */
  tokenEnv?: string | undefined
  /** File that holds it; white space round it is not part of it. */
  tokenFile?: string | undefined
  /** How the two options begin where they are typed; `--token` when absent. */
  option?: string
}

/**
 * The token that clients must show, from a variable or a file: on a command line every process of the machine could read it.
 * Undefined where neither is named. Throws `usage` for one that is absent or too weak; the message never holds any of it.
 */
export async function readToken(
  { tokenEnv, tokenFile, option = '--token' }: TokenSource,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (tokenEnv !== undefined && tokenFile !== undefined)
    throw new QuintainError('usage', `Give ${option}-env or ${option}-file, not both.`)
  if (tokenEnv !== undefined) {
    const place = `the variable ${shownName(tokenEnv)}`
    const value = env[tokenEnv]
    if (value === undefined || value === '') {
      throw new QuintainError(
        'usage',
        `${option}-env takes the name of a variable that holds the token, and ${place} is not set.`,
      )
    }
    return checked(value.trim(), place)
  }
  if (tokenFile === undefined) return undefined
  let text: string
  try {
    text = await readFile(tokenFile, 'utf8')
  } catch (cause) {
    throw new QuintainError('usage', `The token cannot be read: ${messageOf(cause)}`, { cause })
  }
  return checked(text.trim(), tokenFile)
}

/** A name is shown; what is no name may be the token itself, put in its place by mistake. */
function shownName(name: string): string {
  return /^[A-Z_][A-Z0-9_]{0,39}$/.test(name) ? name : 'that was named'
}

function checked(token: string, place: string): string {
  if (token.length < leastCharacters) {
    throw new QuintainError(
      'usage',
      `The token in ${place} has fewer than ${leastCharacters} characters, so it could be guessed. Make one with: openssl rand -hex 24`,
    )
  }
  // What does not fit into a header could never be shown.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new QuintainError(
      'usage',
      `The token in ${place} has characters that no header carries: use letters, digits and punctuation of ASCII without spaces.`,
    )
  }
  return token
}

/**
 * Refuses a door that merges planes at an address that others reach and nothing protects: who reached it could reset,
 * grade, and read all tasks. Throws `usage`.
 */
export function checkHost(door: Door, { host, token }: { host: string; token?: string | undefined }): void {
  if (!door.plane.merges || isLoopback(host) || token !== undefined) return
  throw new QuintainError(
    'usage',
    `Whoever reaches the ${door.title} door can list tasks, reset and grade, so on ${host} it needs a token: --token-env NAME or --token-file FILE. Or leave --host away and it is reached from this machine only.`,
    { facts: { door: door.name, host } },
  )
}
