import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type OutputFormat, QuintainError, textOf } from '../../core/index.ts'
import { quintainVersion } from '../../core/version.ts'
import { type Grader, renderTemplate } from '../../scoring/index.ts'
import { environmentSource, judgesOf, runsPython, type SourceFacts } from './environment-source.ts'
import type { Finding, Findings } from './findings.ts'
import { type HostedRow, tasksOf } from './hosted-row.ts'
import { leavesOf } from './lint-grader.ts'
import { knownAnswer } from './oracle.ts'
import type { HeldFile } from './read-files.ts'

/** What was made of hosted files, for whoever told it to and for the rest of the package. */
export interface HostedPackage {
  tasks: number
  splits: Record<string, number>
  graders: { name: string; type: string }[]
  judges: string[]
  python: boolean
  /** Whether any row declares tools, and whether a form of answer is asked for. */
  tools: boolean
  output: boolean
  findings: Finding[]
  /** What the templates of the package leave open. */
  blanks: {
    kind: string
    ungradable: number
    secrets: boolean
    noop: boolean
    judged: boolean
    split: string
  }
}

/** What a package is made of. */
export interface HostedParts {
  kind: 'rft' | 'evals'
  graders: readonly Grader[]
  rows: readonly HostedRow[]
  output?: OutputFormat
  files: readonly HeldFile[]
  findings: Findings
  /** Facts of the job or the eval, for PROVENANCE.json. */
  facts: Record<string, unknown>
  /** Further files of the package, by name, as they are. */
  extra: Record<string, string | Uint8Array>
}

/** Throws `import_invalid` with everything that keeps a package from being made. */
export function refuseFindings(findings: Findings): void {
  const all = findings.list()
  const errors = all.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return
  const { place, message } = first
  const more =
    errors.length > 1 ? ` That and ${errors.length - 1} more keep the package from being made.` : ''
  throw new QuintainError('import_invalid', `${place}: ${message}${more} Nothing was written.`, {
    facts: { findings: all },
  })
}

/** Writes into a folder all of a package but what templates hold. Throws `import_invalid` before it writes anything. */
export async function writeHostedPackage(parts: HostedParts, dir: string): Promise<HostedPackage> {
  const { kind, graders, rows, output, files, findings, facts, extra } = parts
  refuseFindings(findings)
  const tasks = tasksOf(rows)
  const source: SourceFacts = { kind, graders, output, tools: rows.some(({ tools }) => tools.length > 0) }
  const provenance = {
    schema: 'quintain.provenance/1',
    from: kind === 'rft' ? 'openai-rft' : 'openai-evals',
    quintain: quintainVersion,
    files: files.map(({ name, bytes, sha256 }) => ({ name, bytes: bytes.byteLength, sha256 })),
    ...facts,
    guesses: findings.list().filter(({ severity }) => severity === 'guess'),
  }
  const python = graders
    .flatMap(leavesOf)
    .flatMap(([name, leaf]) => (leaf.type === 'python' ? [[fileName(name), leaf.source] as const] : []))
  const written: Record<string, string | Uint8Array> = {
    ...extra,
    'tasks.jsonl': tasks.map((task) => `${JSON.stringify(task)}\n`).join(''),
    'PROVENANCE.json': pretty(provenance),
    'lint.json': pretty(findings.list()),
    ...(output === undefined ? {} : { 'output.json': pretty(output) }),
    ...Object.fromEntries(python.map(([name, text]) => [`graders/${name}.py`, text])),
    'src/index.ts': environmentSource(source),
  }
  for (const folder of [
    'src',
    ...(python.length > 0 ? ['graders'] : []),
    ...(Object.keys(extra).some((name) => name.startsWith('saved/')) ? ['saved'] : []),
  ])
    await mkdir(join(dir, folder), { recursive: true })
  for (const [name, text] of Object.entries(written)) await writeFile(join(dir, name), text, { flag: 'wx' })
  const splits: Record<string, number> = {}
  for (const { split } of tasks) splits[split] = (splits[split] ?? 0) + 1
  const judges = judgesOf(graders)
  return {
    tasks: tasks.length,
    splits,
    graders: graders.flatMap(leavesOf).map(([name, { type }]) => ({ name, type })),
    judges,
    python: runsPython(graders),
    tools: source.tools,
    output: output !== undefined,
    findings: findings.list(),
    blanks: {
      kind: provenance.from,
      ungradable: rows.filter((row) => !canBeGraded(row, graders)).length,
      secrets: knownAnswer(graders) !== undefined && rows.every((row) => !showsItem(row)),
      noop: !graders
        .flatMap(leavesOf)
        .some(([, leaf]) => leaf.type === 'string_check' && leaf.operation === 'ne'),
      judged: judges.length > 0,
      split: tasks[0]?.split ?? 'train',
    },
  }
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function fileName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 80)
  return plain === '' ? 'grader' : plain
}

/** Whether each field of the row is there that a template of a grader reads. */
export function canBeGraded({ item }: HostedRow, graders: readonly Grader[]): boolean {
  return graders.flatMap(leavesOf).every(([, leaf]) => {
    if (leaf.type !== 'string_check' && leaf.type !== 'text_similarity') return true
    return [leaf.input, leaf.reference].every((template) => {
      const filled = renderTemplate(template, { item, sample: { output_text: '' } })
      return filled.ok || filled.code !== 'invalid_variable_error'
    })
  })
}

/** Whether the prompt says a text that the item holds, as it does where the answer stands among choices. */
function showsItem({ messages, item }: HostedRow): boolean {
  const prompt = messages.map(({ content }) => textOf(content)).join('\n')
  return Object.values(item).some(
    (value) => typeof value === 'string' && value.length >= 4 && prompt.includes(value),
  )
}
