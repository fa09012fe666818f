import type { OutputFormat } from '../../core/index.ts'
import type { Grader } from '../../scoring/index.ts'
import { leavesOf } from './lint-grader.ts'
import { knownAnswer } from './oracle.ts'

/** What decides how the source of a package reads. */
export interface SourceFacts {
  kind: 'rft' | 'evals'
  graders: readonly Grader[]
  output: OutputFormat | undefined
  /** Whether any row declares tools. */
  tools: boolean
}

/** Names of the models that graders ask. */
export function judgesOf(graders: readonly Grader[]): string[] {
  const models = graders.flatMap(leavesOf).flatMap(([, leaf]) => ('model' in leaf ? [leaf.model] : []))
  return [...new Set(models)]
}

export function runsPython(graders: readonly Grader[]): boolean {
  return graders.flatMap(leavesOf).some(([, { type }]) => type === 'python')
}

/** `src/index.ts` of a package: only what this grader needs, so that a person can read it. */
export function environmentSource({ kind, graders, output, tools }: SourceFacts): string {
  const answer = knownAnswer(graders)
  const judges = judgesOf(graders)
  const success = successOf(kind, graders)
  const scoring = ['graderRewards', 'readGrader', ...(answer === undefined ? [] : ['renderTemplate'])]
  const lines = [
    "import { readFileSync } from 'node:fs'",
    `import { environment, ${output === undefined ? '' : 'type OutputFormat, '}readTasks, type ToolSpec } from 'quintain'`,
    `import { ${scoring.join(', ')} } from 'quintain/scoring'`,
    "import { z } from 'zod'",
    ...(output === undefined ? [] : ["import { asAsked } from './as-asked.ts'"]),
    ...(tools ? ["import { DeclaredTools } from './declared-tools.ts'"] : []),
    '',
    "const root = new URL('../', import.meta.url)",
    "const read = (file: string) => JSON.parse(readFileSync(new URL(file, root), 'utf8')) as unknown",
    '',
    ...(kind === 'rft'
      ? [
          '/** The grader as it was hosted: grader.json is unchanged. */',
          "const { grader } = readGrader(read('grader.json'))",
          'export const graders = [grader]',
        ]
      : [
          '/** The testing criteria of the eval, each a reward of the same weight. */',
          "export const graders = (read('criteria.json') as unknown[]).map((criterion) => readGrader(criterion).grader)",
        ]),
    ...(output === undefined
      ? []
      : [
          '/** The form in which answers are asked for; what is none of it scores 0. */',
          "const output = read('output.json') as OutputFormat",
        ]),
    '',
    '/** The fields of a row that graders read as `item`. They hold the answers: nobody who plays sees them. */',
    'const secret = z.object({ item: z.record(z.string(), z.unknown()) })',
    'const data = z.object({ tools: z.array(z.custom<ToolSpec>()) })',
    'type Data = z.infer<typeof data>',
    'type Secret = z.infer<typeof secret>',
    '',
    'export default environment({',
    "  tasks: () => readTasks(new URL('tasks.jsonl', root), { data, secret }),",
    '  // One reply is graded, as in hosted fine-tuning.',
    `  limits: { turns: 1, wall: '10m'${runsPython(graders) || judges.length > 0 ? ", grade: '5m'" : ''} },`,
    ...(tools
      ? [
          "  needs: ['tools'],",
          '  // Tools are declared and not run: their calls are what is graded.',
          '  world: ({ data }) => new DeclaredTools(data.tools),',
        ]
      : []),
    ...(runsPython(graders)
      ? [
          '  // Python graders run in boxes, each call in one of its own; in WebAssembly where nothing starts boxes.',
          "  sandbox: { drivers: ['bwrap', 'docker', 'podman', 'wasm'] },",
        ]
      : []),
    ...(judges.length > 0 ? [`  judges: ${JSON.stringify(judges)},`] : []),
    ...(output === undefined ? [] : ['  output,']),
    ...rewardsOf(kind, output),
    ...(success === undefined ? [] : [`  success: ${success},`]),
    ...oracleOf(answer),
    '})',
    '',
  ]
  return lines.join('\n')
}

function rewardsOf(kind: 'rft' | 'evals', output: OutputFormat | undefined): string[] {
  const wrapped = (text: string) => (output === undefined ? text : `asAsked(output, ${text})`)
  const item = 'item: (task) => task.secret.item'
  if (kind === 'rft') return [`  rewards: ${wrapped(`graderRewards<Data, Secret>(grader, { ${item} })`)},`]
  return [
    '  rewards: Object.fromEntries(',
    '    graders.flatMap((grader) => {',
    '      const { name } = grader',
    `      const rewards = ${wrapped(`graderRewards<Data, Secret>(grader, { name, ${item} })`)}`,
    '      return Object.entries(rewards).map(([part, { weight, reward }]) => [part, { weight: weight / graders.length, reward }])',
    '    }),',
    '  ),',
  ]
}

/** From which score on each grader is passed; undefined where nobody has said. */
export function passesFrom(grader: Grader): number | undefined {
  if (grader.passThreshold !== undefined) return grader.passThreshold
  return grader.type === 'string_check' || grader.type === 'label_model' ? 1 : undefined
}

function successOf(kind: 'rft' | 'evals', graders: readonly Grader[]): string | undefined {
  const parts = graders.flatMap((grader) => {
    const threshold = passesFrom(grader)
    return threshold === undefined
      ? []
      : [`rewards[${JSON.stringify(kind === 'rft' ? 'grader' : grader.name)}]! >= ${threshold}`]
  })
  if (parts.length === 0 || (kind === 'evals' && parts.length < graders.length)) return undefined
  return `({ rewards }) => ${parts.join(' && ')}`
}

function oracleOf(answer: ReturnType<typeof knownAnswer>): string[] {
  if (answer === undefined) return []
  const render = (template: string) => `fill(${JSON.stringify(template)})`
  const said =
    'text' in answer
      ? render(answer.text)
      : `JSON.stringify({ ${Object.entries(answer.fields)
          .map(([name, template]) => `${JSON.stringify(name)}: ${render(template)}`)
          .join(', ')} })`
  return [
    '  *oracle({ task }) {',
    '    const fill = (template: string) => {',
    "      const filled = renderTemplate(template, { item: task.secret.item, sample: { output_text: '' } })",
    "      return filled.ok ? filled.text : ''",
    '    }',
    `    yield ${said}`,
    '  },',
  ]
}
