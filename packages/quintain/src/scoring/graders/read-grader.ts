import { nearest } from '../../core/index.ts'
import type { Grader, MultiGrader, SimilarityMetric, StringCheckGrader } from './grader.ts'
import { readAsked } from './read-asked.ts'
import { type Fields, GraderReading } from './read-fields.ts'
import { parseFormula } from './score-formula.ts'

/** A grader in canonical form, and in sentences what its file left open and was guessed. */
export interface ReadGrader {
  grader: Grader
  guesses: string[]
}

const types = ['string_check', 'text_similarity', 'score_model', 'label_model', 'python', 'multi'] as const
const commonFields = ['type', 'name', 'pass_threshold', 'id', 'object']
const askedFields = ['model', 'input', 'messages', 'sampling_params']
const fieldsByType: Record<Grader['type'], readonly string[]> = {
  string_check: ['input', 'reference', 'operation'],
  text_similarity: ['input', 'reference', 'evaluation_metric', 'metric'],
  score_model: [...askedFields, 'range'],
  label_model: [...askedFields, 'labels', 'passing_labels'],
  python: ['source', 'image_tag'],
  multi: ['graders', 'calculate_output'],
}
const metrics: readonly SimilarityMetric[] = [
  ...(['cosine', 'fuzzy_match', 'bleu', 'gleu', 'meteor', 'rouge_1', 'rouge_2'] as const),
  ...(['rouge_3', 'rouge_4', 'rouge_5', 'rouge_l'] as const),
]
const operations: Record<string, StringCheckGrader['operation']> = {
  eq: 'eq',
  equals: 'eq',
  ne: 'ne',
  neq: 'ne',
  like: 'like',
  ilike: 'ilike',
}
/** The vendor's: what is larger is refused. */
const sourceBytes = 256 * 1000
/** A name that a formula can say. */
const variable = /^[A-Za-z_]\w*$/

/**
 * Reads the JSON of a hosted grader, in every spelling that files have. Throws `import_invalid` with the place in the file
 * for an unknown type, a bad name, a missing or wrong field, and a grader within itself.
 */
export function readGrader(json: unknown): ReadGrader {
  const reading = new GraderReading()
  // A job or a request may be what was saved: the grader is in it.
  const fields = reading.fields(json, 'grader')
  const inner = fields.has('type') ? undefined : fields.first('grader')
  const grader =
    inner === undefined
      ? one(fields, reading, 'grader')
      : one(reading.fields(inner, 'grader.grader'), reading, 'grader')
  return { grader, guesses: reading.guesses }
}

function one(fields: Fields, reading: GraderReading, fallback: string): Grader {
  const type = fields.text('type')
  if (type === undefined) throw fields.problem(`has no "type"; it is one of ${types.join(', ')}`)
  const known = types.find((name) => name === type)
  if (known === undefined)
    throw fields.problem(
      type === 'endpoint'
        ? 'has the type "endpoint", a private preview of the vendor whose graders run on a server of yours: call that server from a python grader or a reward of your own'
        : unknown('type', type, types),
    )
  let name = fields.text('name')
  if (name === undefined || name === '') {
    name = fallback
    reading.guess(`${fields.at} has no name; it is called "${name}" here.`)
  }
  const threshold = fields.number('pass_threshold')
  fields.unread([...commonFields, ...fieldsByType[known]], reading)
  const head = { name, ...(threshold === undefined ? {} : { passThreshold: threshold }) }
  switch (known) {
    case 'string_check':
      return {
        ...head,
        type: known,
        input: fields.need('input'),
        reference: fields.need('reference'),
        operation: operationOf(fields, reading),
      }
    case 'text_similarity':
      return {
        ...head,
        type: known,
        input: fields.need('input'),
        reference: fields.need('reference'),
        metric: metricOf(fields, reading),
      }
    case 'python':
      return python(fields, head)
    case 'score_model':
    case 'label_model':
      return readAsked(fields, reading, { ...head, type: known })
    case 'multi':
      return multi(fields, reading, head)
  }
}

function unknown(what: string, given: string, known: readonly string[]): string {
  const close = nearest(given, known)
  const meant = close === undefined ? '' : ` (did you mean "${close}"?)`
  return `has the unknown ${what} ${JSON.stringify(given).slice(0, 60)}${meant}; it is one of ${known.join(', ')}`
}

function operationOf(fields: Fields, reading: GraderReading): StringCheckGrader['operation'] {
  const given = fields.need('operation')
  const known = Object.hasOwn(operations, given) ? operations[given] : undefined
  if (known === undefined)
    throw fields.problem(
      `has the operation ${JSON.stringify(given).slice(0, 60)}; it is eq, ne, like or ilike`,
    )
  if (known !== given) reading.guess(`${fields.at}: the operation "${given}" is taken for ${known}.`)
  return known
}

function metricOf(fields: Fields, reading: GraderReading): SimilarityMetric {
  const given = fields.text('evaluation_metric') ?? fields.text('metric')
  if (given === undefined)
    throw fields.problem(`has no "evaluation_metric"; it is one of ${metrics.join(', ')}`)
  const plain = given
    .toLowerCase()
    .replace(/[-\s]/g, '_')
    .replace(/^rouge(?=[1-5l])/, 'rouge_')
  const known = metrics.find((name) => name === plain)
  if (known === undefined) throw fields.problem(unknown('metric', given, metrics))
  if (known !== given) reading.guess(`${fields.at}: the metric "${given}" is taken for ${known}.`)
  return known
}

function python(fields: Fields, head: { name: string; passThreshold?: number }): Grader {
  const source = fields.need('source')
  const bytes = Buffer.byteLength(source)
  if (bytes >= sourceBytes)
    throw fields.problem(`has a source of ${bytes} bytes; the vendor takes less than 256 kB`)
  const imageTag = fields.text('image_tag')
  return { ...head, type: 'python', source, ...(imageTag === undefined ? {} : { imageTag }) }
}

const nested = 'is a multi within a multi, which the vendor does not take'

function multi(
  fields: Fields,
  reading: GraderReading,
  head: { name: string; passThreshold?: number },
): MultiGrader {
  const formula = formulaOf(fields, reading)
  const given = fields.first('graders')
  if (given === undefined) throw fields.problem('has no "graders"')
  const entries = entriesOf(given, fields, reading, formula)
  if (entries.length === 0) throw fields.problem('has no graders in "graders"')
  if (entries.length > 64)
    throw fields.problem(`has ${entries.length} graders; 64 are the most that are read`)
  const graders: [string, MultiGrader['graders'][string]][] = []
  for (const [name, part] of entries) {
    if (!variable.test(name) || name === '__proto__')
      throw fields.problem(
        `names a grader ${JSON.stringify(name).slice(0, 60)}, which a formula cannot say; use letters, digits and "_"`,
      )
    if (graders.some(([other]) => other === name)) throw fields.problem(`has two graders called "${name}"`)
    // Before it is read: what a program made may be within itself.
    if (part.first('type') === 'multi') throw part.problem(nested)
    const grader = one(part, reading, name)
    if (grader.type === 'multi') throw part.problem(nested)
    graders.push([name, grader])
  }
  const [only] = graders
  if (formula === '' && (only === undefined || graders.length > 1))
    throw fields.problem('has no "calculate_output"')
  const calculateOutput = formula === '' ? only![0] : formula
  if (formula === '') reading.guess(`${fields.at} has no formula; it is the score of its one grader.`)
  return { ...head, type: 'multi', graders: Object.fromEntries(graders), calculateOutput }
}

/** The formula; empty where there is none. The vendor's own example closes a bracket that it never opened. */
function formulaOf(fields: Fields, reading: GraderReading): string {
  const formula = (fields.text('calculate_output') ?? '').trim()
  const parsed = parseFormula(formula)
  if (parsed.ok || formula.at(-1) !== ')' || parsed.at !== formula.length - 1) return formula
  const without = formula.slice(0, -1).trimEnd()
  if (!parseFormula(without).ok) return formula
  reading.guess(`${fields.at}.calculate_output ends with a ")" that closes nothing; it is left out.`)
  return without
}

/** `graders` as a map by name, a list, or a single grader. */
function entriesOf(
  given: unknown,
  fields: Fields,
  reading: GraderReading,
  formula: string,
): [string, Fields][] {
  const at = `${fields.at}.graders`
  if (Array.isArray(given)) {
    reading.guess(`${at} is a list; each grader is the variable of its own name.`)
    return given.map((value: unknown, place): [string, Fields] => {
      const part = reading.fields(value, `${at}[${place}]`)
      return [variableOf(part.text('name') ?? `grader_${place + 1}`, formula, part, reading), part]
    })
  }
  const map = reading.fields(given, at)
  if (map.has('type') && typeof map.first('type') === 'string') {
    reading.guess(`${at} is a single grader and no map; it is the variable of its own name.`)
    return [[variableOf(map.text('name') ?? 'grader', formula, map, reading), map]]
  }
  return map.names().map((key): [string, Fields] => {
    const part = reading.fields(map.first(key), `${at}.${key.slice(0, 60)}`)
    const isSaid = saidIn(formula, key)
    const named = isSaid ? undefined : nameIn(part.text('name') ?? key, formula)
    if (named === undefined) return [key, part]
    reading.guess(`${part.at}: the formula's "${named}" is taken for this grader.`)
    return [named, part]
  })
}

/** In files with lists a formula may say `accuracy_score` for the grader `accuracy`, and `my_grader` for "My grader". */
function variableOf(name: string, formula: string, part: Fields, reading: GraderReading): string {
  const found = nameIn(name, formula)
  if (found === undefined) return variable.test(name) ? name : plainName(name)
  if (found !== name) reading.guess(`${part.at}: the formula's "${found}" is taken for the grader "${name}".`)
  return found
}

/** What a formula calls a grader, if it does. */
function nameIn(name: string, formula: string): string | undefined {
  const plain = plainName(name)
  const candidates = [name, `${name}_score`, plain, `${plain}_score`, plain.toLowerCase()]
  return [...candidates, `${plain.toLowerCase()}_score`].find((text) => saidIn(formula, text))
}

function plainName(name: string): string {
  return name.trim().replace(/\W+/g, '_')
}

function saidIn(formula: string, name: string): boolean {
  return variable.test(name) && new RegExp(`(?<!\\w)${name}(?!\\w)`).test(formula)
}
