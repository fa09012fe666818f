import { basename, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, QuintainError } from '../core/index.ts'
import type { Agent, AgentPlayer } from '../engine/index.ts'
import { splitCommand } from './split-command.ts'

/** An agent as it was typed: `--agent FILE[#EXPORT]`, `--agent-command COMMAND`, or `--agent-url URL`. */
export type NamedAgent = { file: string } | { command: string } | { url: string }

/** Options of commands that play agents. */
export interface AgentOptions {
  /** In the order in which they were typed. */
  agents?: NamedAgent[]
}

/** Who an agent is, for a folder's name. */
export function textOfAgent(agent: NamedAgent): string {
  if ('file' in agent) return agent.file
  return 'url' in agent ? new URL(agent.url).host : (splitCommand(agent.command).at(-1) ?? '')
}

/** Loads or prepares an agent; nothing of it runs yet but the code of its module. Throws `usage`. */
export async function openAgent(named: NamedAgent, cwd: string): Promise<AgentPlayer> {
  if ('file' in named) return agentOfFile(named.file, cwd)
  const { command, remote } = await import('../harness/index.ts')
  if ('url' in named) return { agent: remote(named.url) }
  // Where the user is, as a shell would run it.
  return { agent: command({ argv: splitCommand(named.command), cwd }) }
}

async function agentOfFile(text: string, cwd: string): Promise<AgentPlayer> {
  const [, path = text, name = 'default'] = /^(.+?)(?:#([\w$]+))?$/.exec(text) ?? []
  let module: Record<string, unknown>
  try {
    module = (await import(pathToFileURL(resolve(cwd, path)).href)) as Record<string, unknown>
  } catch (error) {
    throw new QuintainError('usage', `The agent ${path} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      facts: { file: path },
    })
  }
  const agent = module[name]
  if (typeof agent === 'function') {
    const called = name === 'default' ? basename(path, extname(path)) : name
    return { agent: agent as Extract<Agent, (...given: never[]) => unknown>, name: called }
  }
  if (isHarness(agent)) return { agent }
  const what = name === 'default' ? 'default export' : `export "${name}"`
  throw new QuintainError(
    'usage',
    `The ${what} of ${path} is no agent: export a function that answers, or a harness such as command([…]).`,
    { facts: { file: path, export: name, exports: Object.keys(module) } },
  )
}

function isHarness(value: unknown): value is Exclude<Agent, (...given: never[]) => unknown> {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function'
}
