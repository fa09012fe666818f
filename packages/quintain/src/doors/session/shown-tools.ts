import { didYouMean, type JsonSchema, type ToolSpec } from '../../core/index.ts'

/** Tools under the names that a door can show, and the way back. */
export interface ShownTools {
  tools: readonly ToolSpec[]
  /** The one by which a client speaks. */
  answerTool: string | undefined
  /** Its parameter. */
  answerParameter: string
  /** The environment's tool behind a shown name; the name itself where no tool is shown under it. */
  named(shown: string): string
  specOf(shown: string): ToolSpec | undefined
  /** Some tool is shown under another name than its own. */
  renamed: boolean
  /** What is said of a tool that is not there, in names that are shown. */
  unknown(shown: string): string
}

export interface ShowOptions {
  reserved?: ReadonlySet<string>
  answerTool: boolean
  /** The environment answers what is said. */
  replies: boolean
}

/** Ways of showing the same tools that are kept; a door has one or two. */
const mostWays = 8

/** What was shown of tools before. */
const shownBefore = new WeakMap<readonly ToolSpec[], { options: ShowOptions; shown: ShownTools }[]>()

/**
 * Shows tools as protocols take them whose clients make methods of them: the names are Python identifiers, none is
 * reserved, none stands twice. Names that are fit stay as they are, whatever the others are.
 */
export function showTools(specs: readonly ToolSpec[], options: ShowOptions): ShownTools {
  const before = shownBefore.get(specs) ?? []
  const known = before.find(({ options: { reserved, answerTool, replies } }) => {
    return reserved === options.reserved && answerTool === options.answerTool && replies === options.replies
  })
  if (known !== undefined) return known.shown
  const shown = shownNow(specs, options)
  shownBefore.set(specs, [...before.slice(-mostWays), { options, shown }])
  return shown
}

function shownNow(specs: readonly ToolSpec[], { reserved, answerTool, replies }: ShowOptions): ShownTools {
  const isFree = (name: string, taken: ReadonlyMap<string, unknown>) =>
    !taken.has(name) && reserved?.has(name) !== true && !pythonWords.has(name)
  const shown = new Map<string, { spec: ToolSpec; real: string }>()
  for (const spec of specs)
    if (isIdentifier(spec.name) && isFree(spec.name, shown)) shown.set(spec.name, { spec, real: spec.name })
  for (const spec of specs) {
    if (shown.get(spec.name)?.spec === spec) continue
    const base = identifierOf(spec.name)
    let name = base
    for (let n = 2; !isFree(name, shown); n++) name = `${base}_${n}`
    shown.set(name, { spec: { ...spec, name }, real: spec.name })
  }
  let answer: ToolSpec | undefined
  if (answerTool) {
    const base = replies ? 'say' : 'submit_answer'
    let name = base
    for (let n = 2; !isFree(name, shown); n++) name = `${base}_${n}`
    answer = replies ? sayTool(name) : submitTool(name)
  }
  const all = specs.map((spec) => [...shown.values()].find(({ real }) => real === spec.name)!.spec)
  const tools = answer === undefined ? all : [...all, answer]
  return {
    tools,
    answerTool: answer?.name,
    answerParameter: replies ? 'message' : 'answer',
    named: (name) => shown.get(name)?.real ?? name,
    specOf: (name) => shown.get(name)?.spec,
    renamed: [...shown].some(([name, { real }]) => name !== real),
    unknown(name) {
      const names = tools.map((tool) => tool.name)
      return `There is no tool "${name}"${didYouMean(name, names)} Tools: ${names.join(', ')}.`
    },
  }
}

function sayTool(name: string): ToolSpec {
  return {
    name,
    description: 'Says something to the other side, and gives its answer.',
    parameters: oneText('message', 'What you say.'),
  }
}

function submitTool(name: string): ToolSpec {
  return {
    name,
    description: 'Gives your final answer and ends the task. It can be given once.',
    parameters: oneText('answer', 'Your final answer, whole.'),
  }
}

function oneText(parameter: string, description: string): JsonSchema {
  return {
    type: 'object',
    properties: { [parameter]: { type: 'string', description } },
    required: [parameter],
    additionalProperties: false,
  }
}

function isIdentifier(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name)
}

function identifierOf(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^_+/, '')
  return /^[A-Za-z]/.test(plain) ? plain : `tool_${plain}`
}

/** What cannot name a method. */
const pythonWords: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return self try while with yield'
  ).split(' '),
)

/**
 * Arguments without the nulls that clients send for what they leave out: those of properties that need not be there and
 * that the schema does not let be null.
 */
export function withoutNulls(
  given: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, unknown>
  const required = new Set((schema['required'] as string[] | undefined) ?? [])
  const kept = Object.entries(given).filter(
    ([name, value]) =>
      value !== null ||
      required.has(name) ||
      !Object.hasOwn(properties, name) ||
      allowsNull(properties[name]),
  )
  return Object.fromEntries(kept)
}

function allowsNull(schema: unknown): boolean {
  if (schema === true) return true
  if (typeof schema !== 'object' || schema === null) return false
  const { type, enum: values, const: value, anyOf, oneOf } = schema as Record<string, unknown>
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return true
  if (Array.isArray(values)) return values.includes(null)
  if ('const' in schema) return value === null
  const either = [...(Array.isArray(anyOf) ? anyOf : []), ...(Array.isArray(oneOf) ? oneOf : [])]
  if (either.length > 0) return either.some(allowsNull)
  return type === undefined && !('$ref' in schema)
}
