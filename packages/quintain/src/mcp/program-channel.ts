import { basename } from 'node:path'
import { QuintainError } from '../core/errors.ts'
import type { ChannelMaker } from './connection.ts'
import { GuardedProgramTransport } from './guarded-transport.ts'
import { lastWords } from './last-words.ts'
import { StdioTransport } from './stdio-transport.ts'

/** An MCP server that is a program, started for the attempt and ended with it. */
export interface ProgramServer {
  /** A path, or a name that is looked up in `env.PATH`. For a server in JavaScript: `process.execPath`. */
  command: string
  args?: readonly string[]
  /** The whole environment of the program; it gets no variable of ours. */
  env?: Readonly<Record<string, string>>
  cwd?: string
  /** How much of the end of its stderr is kept. Default 64 KiB. */
  stderrBytes?: number
}

/** Programs that were seen to speak no revision with `server/discover`; those are not asked again. */
const knownLegacy = new Set<string>()

/** Throws `usage` for a command that is none. */
export function programChannel(server: ProgramServer, maxMessageBytes: number): ChannelMaker {
  const { command, args = [], env = {}, cwd, stderrBytes = 64 * 1024 } = server
  if (typeof command !== 'string' || command === '')
    throw new QuintainError('usage', 'mcpTools({ command }): command is no text.')
  // What follows the first argument that is no option differs from attempt to attempt.
  const subject = args.findIndex((argument) => !argument.startsWith('-'))
  const key = JSON.stringify([command, ...args.slice(0, subject + 1)])
  let current: StdioTransport | undefined
  let skipped = 0
  const stderr = () => current?.stderr ?? ''
  return {
    name: `MCP server ${shortName(command, args[0])}`,
    era: knownLegacy.has(key) ? 'legacy' : undefined,
    connected(era) {
      if (era === 'legacy') knownLegacy.add(key)
    },
    stderr,
    skippedLines: () => skipped,
    pid: () => current?.pid ?? undefined,
    lastWords: () => {
      const said = lastWords(stderr(), Object.values(env))
      return [current?.ending ?? '', said && `it said: ${said}`].filter((part) => part !== '').join('; ')
    },
    async open() {
      const transport = new StdioTransport({
        command,
        args,
        env,
        cwd,
        maxMessageBytes,
        stderrBytes,
        onTooLarge: () =>
          guard.answerFor(undefined, 'result_too_large', `the answer has more than ${maxMessageBytes} bytes`),
        onSkippedLine: () => {
          skipped++
        },
      })
      const guard = new GuardedProgramTransport(transport)
      current = transport
      return { guard }
    },
  }
}

/** What people call a program: its file, or the script that it runs; no other argument, since keys are passed there. */
function shortName(command: string, first: string | undefined): string {
  const script = first !== undefined && /\.(?:[cm]?[jt]s|py)$/.test(first)
  return script ? first.split(/[\\/]/).slice(-3).join('/') : basename(command)
}
