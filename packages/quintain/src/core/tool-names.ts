import { createHash } from 'node:crypto'
import { QuintainError } from './errors.ts'

/** The longest tool name that every provider takes. */
export const toolNameLimit = 64

/**
 * The names under which tools of several servers are shown to a model, in the order given: `server__tool`, or `tool`
 * without a server. Names are unique, at most 64 characters of `[a-zA-Z0-9_-]`, and depend on the set of tools only, not
 * on its order. One that had to be cut or cleaned carries a hash of its whole name.
 *
 * Throws `definition_invalid` when a server has two tools of one name.
 */
export function exposeToolNames(tools: readonly { server?: string; name: string }[]): string[] {
  const keys = tools.map(({ server, name }) => JSON.stringify([server ?? null, name]))
  const seen = new Set<string>()
  for (const [index, key] of keys.entries()) {
    const { server, name } = tools[index]!
    if (seen.has(key)) {
      throw new QuintainError(
        'definition_invalid',
        `${server === undefined ? 'There are' : `Server "${server}" has`} two tools named "${name}"; rename one.`,
        { facts: { server, name } },
      )
    }
    seen.add(key)
  }
  let digits = new Array<number>(tools.length).fill(0)
  for (;;) {
    const names = tools.map((tool, index) => exposedName(tool, keys[index]!, digits[index]!))
    const holders = new Map<string, number>()
    for (const name of names) holders.set(name, (holders.get(name) ?? 0) + 1)
    if (holders.size === tools.length) return names
    // All that share a name get a longer hash, so that none of them depends on who came first.
    digits = digits.map((count, index) => (holders.get(names[index]!)! > 1 ? Math.min(count + 8, 40) : count))
  }
}

function exposedName(tool: { server?: string; name: string }, key: string, digits: number): string {
  const whole = tool.server === undefined ? tool.name : `${tool.server}__${tool.name}`
  const clean = whole.replace(/[^a-zA-Z0-9_-]/g, '_')
  const ambiguous = tool.server !== undefined && (tool.server.includes('__') || tool.name.includes('__'))
  const plain = clean === whole && whole !== '' && whole.length <= toolNameLimit && !ambiguous
  if (plain && digits === 0) return whole
  const hash = createHash('sha256').update(key).digest('hex').slice(0, Math.max(8, digits))
  return `${clean.slice(0, toolNameLimit - hash.length - 1)}_${hash}`
}
