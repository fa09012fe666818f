import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Harness, messageOf, QuintainError } from '../core/index.ts'
import type { AgentPlayer } from '../engine/index.ts'
import type { AgentFunction } from '../harness/index.ts'
import { splitCommand } from './split-command.ts'

/** An agent as it was typed: `--agent FILE[#EXPORT]`, `--agent-command COMMAND`, or `--agent-url URL`. */
export type NamedAgent = { file: string } | { command: string } | { url: string }

/** Options of commands that play agents. */
export interface AgentOptions {
  /** In the order in which they were typed. */
  agents?: NamedAgent[]
}

/** File names that say nothing of what is in them: the folder does. */
const plainNames = ['quintain', 'index']

/** Who an agent is, in a word: its export or its file, its program's script, its host. */
export function labelOf(agent: NamedAgent, cwd: string): string {
  if ('url' in agent) return new URL(agent.url).host
  if ('file' in agent) {
    const { path, name } = fileAndExport(agent.file)
    if (name !== 'default') return name
    const file = basename(path, extname(path))
    return plainNames.includes(file) ? basename(dirname(resolve(cwd, path))) || file : file
  }
  const words = splitCommand(agent.command)
  const script = words
    .slice(1)
    .findLast((word) => /^[^-].*(?:\/[^/]+|\.\w+)$/.test(word) && !word.includes('://'))
  return script === undefined ? basename(words[0] ?? '') : basename(script, extname(script))
}

/**
 * Loads or prepares agents; nothing of them runs yet but the code of their modules. Each has a name of its own, so that
 * their runs are told apart. Throws `usage`.
 */
export async function openAgents(named: readonly NamedAgent[], cwd: string): Promise<AgentPlayer[]> {
  const opened: { player: AgentPlayer; own: string; label: string }[] = []
  const { harnessOf } = await import('../engine/index.ts')
  for (const one of named) {
    const label = labelOf(one, cwd)
    const player = await openAgent(one, label, cwd)
    opened.push({ player, own: harnessOf(player).name, label })
  }
  const times = (name: string) => opened.filter(({ own }) => own === name).length
  const taken = new Set<string>()
  return opened.map(({ player, own, label }) => {
    if (times(own) === 1 && own !== unnamed) return player
    let name = label
    for (let number = 2; taken.has(name); number++) name = `${label}-${number}`
    taken.add(name)
    return { ...player, name }
  })
}

/** What a harness of a function without a name is called. */
const unnamed = 'agent:agent'

async function openAgent(named: NamedAgent, label: string, cwd: string): Promise<AgentPlayer> {
  if ('file' in named) return agentOfFile(named.file, label, cwd)
  const { command, remote } = await import('../harness/index.ts')
  const { digestOf } = await import('../engine/index.ts')
  if ('url' in named) {
    const { origin, pathname } = new URL(named.url)
    return { agent: remote(named.url), digest: digestOf(`${origin}${pathname}`) }
  }
  // Where the user is, as a shell would run it.
  return { agent: command({ argv: splitCommand(named.command), cwd, name: label }) }
}

function fileAndExport(text: string): { path: string; name: string } {
  const [, path = text, name = 'default'] = /^(.+?)(?:#([\w$]+))?$/.exec(text) ?? []
  return { path, name }
}

async function agentOfFile(text: string, label: string, cwd: string): Promise<AgentPlayer> {
  const { path, name } = fileAndExport(text)
  let module: Record<string, unknown>
  let source: string
  try {
    source = await readFile(resolve(cwd, path), 'utf8')
    module = (await import(pathToFileURL(resolve(cwd, path)).href)) as Record<string, unknown>
  } catch (error) {
    throw new QuintainError('usage', `The agent ${path} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      facts: { file: path },
    })
  }
  const agent = module[name]
  const { digestOf } = await import('../engine/index.ts')
  const digest = digestOf(`${name}\n${source}`)
  if (typeof agent === 'function') return { agent: agent as AgentFunction, name: label, digest }
  if (isHarness(agent)) return { agent, digest }
  const what = name === 'default' ? 'default export' : `export "${name}"`
  throw new QuintainError(
    'usage',
    `The ${what} of ${path} is no agent: export a function that answers, or a harness such as command([…]).`,
    { facts: { file: path, export: name, exports: Object.keys(module) } },
  )
}

function isHarness(value: unknown): value is Harness {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function'
}
