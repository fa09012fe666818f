import { isObject } from '../core/chat-messages.ts'
import { keyOf, literal, TooDeep } from './literal.ts'
import type { ChangingCall, ProposedTask } from './proposed-tasks.ts'
import { type RecordedTool, safeToolName } from './recorded-tools.ts'

/** Text on one line, cut to a length. */
export function excerpt(text: string, most: number): string {
  const line = text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line
}

/** What stands inside a comment that begins with `//` or in Markdown, and can end neither. */
export function quoted(text: string, most: number): string {
  return JSON.stringify(excerpt(text, most)).replaceAll('`', "'").replaceAll('<', '‹')
}

/** What a task asks first, as text. */
export function questionText({ prompt }: ProposedTask): string {
  const asked = prompt.find(({ role }) => role === 'user')?.content ?? ''
  if (typeof asked === 'string') return asked
  return asked.map((part) => (part.type === 'text' ? part.text : '[image]')).join(' ')
}

/** What must be true in the end, as `decisions.ts` has it. */
export interface GivenDecision {
  told: string[]
  changed: ChangingCall[]
}

/** What the file itself holds as gold, where it has the shape of tau-bench's: a proposal, never a decision. */
export function givenDecision(given: unknown, tools: TakenTools): GivenDecision | undefined {
  if (!isObject(given) || !Array.isArray(given['actions'])) return undefined
  const changed: ChangingCall[] = []
  for (const action of given['actions'] as unknown[]) {
    if (!isObject(action) || typeof action['name'] !== 'string') return undefined
    const tool = safeToolName(action['name'])
    if (!tools.changing.has(tool)) continue
    const input = action['kwargs'] ?? action['arguments']
    const prose = tools.freeText.get(tool) ?? []
    const compared = Object.entries(isObject(input) ? input : {}).filter(([name]) => !prose.includes(name))
    changed.push({ tool, arguments: Object.fromEntries(compared) })
  }
  const outputs = Array.isArray(given['outputs']) ? given['outputs'].map(String) : []
  return { told: outputs, changed }
}

/** What tools are taken to be until somebody says otherwise. */
export interface TakenTools {
  changing: ReadonlySet<string>
  /** Arguments that are not compared, by tool: of those that change something, and of those that hand over. */
  freeText: ReadonlyMap<string, readonly string[]>
  handingOver: readonly string[]
}

export function takenTools(tools: readonly RecordedTool[]): TakenTools {
  return {
    changing: new Set(tools.filter(({ changes }) => changes).map(({ name }) => name)),
    freeText: new Map(
      tools
        .filter(({ changes, handsOver, freeText }) => (changes || handsOver) && freeText.length > 0)
        .map(({ name, freeText }) => [name, freeText]),
    ),
    handingOver: tools.filter(({ handsOver }) => handsOver).map(({ name }) => name),
  }
}

/** The file's own answers by task, as source text; those that no source can hold are left out. */
export function proposalsOf(tasks: readonly ProposedTask[], tools: TakenTools): Map<string, string> {
  const proposals = new Map<string, string>()
  for (const { id, given } of tasks) {
    const decision = givenDecision(given, tools)
    if (decision === undefined) continue
    try {
      proposals.set(id, literal(decision, '  '))
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error
    }
  }
  return proposals
}

/** `src/proposals.ts`: what the file holds as its own answers; undefined where it holds none. */
export function proposalsFile(
  proposals: ReadonlyMap<string, string>,
  { tasks, source }: { tasks: readonly ProposedTask[]; source: string },
): string | undefined {
  if (proposals.size === 0) return undefined
  const lines = [
    `// What ${quoted(source, 80)} itself holds as the answer of each task: proposals. Free text is left out, and so are calls`,
    '// of tools that change nothing. Read one before you take it into decisions.ts. Some are wrong, and those that ask for',
    '// nothing would be passed by doing nothing.',
    '',
    "import type { Decision } from './decisions.ts'",
    '',
    'export const proposals = {',
  ]
  for (const task of tasks) {
    const proposal = proposals.get(task.id)
    if (proposal === undefined) continue
    lines.push(`  // ${quoted(questionText(task), 90)}`, `  ${keyOf(task.id)}: ${proposal},`)
  }
  lines.push('} satisfies Record<string, Decision>', '')
  return lines.join('\n')
}

/** `src/decisions.ts`: an open question for each task, and the tools that are taken to change something. */
export function decisionsFile(
  tasks: readonly ProposedTask[],
  tools: TakenTools,
  proposals: ReadonlyMap<string, string>,
): string {
  const { changing, freeText, handingOver } = tools
  const lines = [
    '// What counts as done, task by task. null is "nobody has decided", and such a task is unscored. The questions, with what',
    '// the recordings show, are in ../TODO.md.',
    ...(proposals.size === 0
      ? []
      : [
          "// The file has answers of its own, in proposals.ts. To take one, write proposals['its id'] in the place of null; to take",
          '// all, `export const decisions: Record<string, Decision | null> = proposals`, and read them afterwards.',
          "import { proposals } from './proposals.ts'",
        ]),
    '',
    '/** What must be true in the end. Both lists empty decides nothing: doing nothing would pass. */',
    'export interface Decision {',
    "  /** Facts that the agent must have told, each as short as it can be said: '327', '$1,250.00', 'May 22'. */",
    '  told: string[]',
    '  /** Calls of changing tools that must have been made, in any order, and no others. */',
    '  changed: { tool: string; arguments: Record<string, unknown> }[]',
    '}',
    '',
    '/**',
    ' * TODO: which tools change something? Guessed from their names; the others only look. A call of one of these that a',
    ' * decision does not name makes a conversation fail.',
    ...(handingOver.length === 0
      ? []
      : [
          ` * Left out, since it changes nothing here: ${handingOver.join(', ')}, by which an agent hands the customer to people. Where`,
          ' * that is what must be done, name it here and in the decisions.',
        ]),
    ' */',
    `export const changing: ReadonlySet<string> = new Set<string>(${literal([...changing])})`,
    '',
    '/** TODO: which arguments are free text? They are not compared, since nobody writes them the same way twice. By tool. */',
    `export const freeText: Readonly<Record<string, readonly string[]>> = ${literal(fromEntries(freeText))}`,
    '',
    'export const decisions: Record<string, Decision | null> = {',
  ]
  for (const task of tasks) lines.push(`  // ${quoted(questionText(task), 90)}`, `  ${keyOf(task.id)}: null,`)
  lines.push('}', '')
  return lines.join('\n')
}

function fromEntries(entries: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(entries)
}
