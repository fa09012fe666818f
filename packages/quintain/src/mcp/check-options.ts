import { QuintainError } from '../core/errors.ts'
import { refuseUnknown } from '../core/suggest.ts'
import type { HttpServer } from './http-channel.ts'
import type { McpOptions } from './mcp-tools.ts'
import type { ProgramServer } from './program-channel.ts'

const program = ['command', 'args', 'env', 'cwd', 'stderrBytes'] satisfies (keyof ProgramServer)[]
const address = ['url', 'headers', 'transport'] satisfies (keyof HttpServer)[]
const either = [
  'stateful',
  'era',
  'startMs',
  'callMs',
  'idleMs',
  'maxMessageBytes',
  'resultBytes',
  'signal',
  'only',
  'except',
  'prefix',
] satisfies (keyof McpOptions)[]

/** Throws `usage` for an option of `mcpTools` that is none, and where it was not told where the server is, or told twice. */
export function checkOptions(server: object): void {
  refuseUnknown(server, [...program, ...address, ...either], 'usage', 'mcpTools: there is no option')
  const isProgram = 'command' in server
  if (isProgram === 'url' in server)
    throw new QuintainError(
      'usage',
      `mcpTools: give { command } for a server that is a program or { url } for one at an address; ${isProgram ? 'both were given' : 'neither was given'}.`,
    )
  const [own, what] = isProgram ? [program, 'a program'] : [address, 'at an address']
  refuseUnknown(server, [...own, ...either], 'usage', `mcpTools: a server that is ${what} has no option`)
}
