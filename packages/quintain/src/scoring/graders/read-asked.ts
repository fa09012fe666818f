import type { GraderMessage, GraderPart, LabelModelGrader, ScoreModelGrader } from './grader.ts'
import type { Fields, GraderReading } from './read-fields.ts'

type Head = { name: string; passThreshold?: number; type: 'score_model' | 'label_model' }

/** A grader that asks a model. */
export function readAsked(
  fields: Fields,
  reading: GraderReading,
  { type, ...head }: Head,
): ScoreModelGrader | LabelModelGrader {
  const model = fields.need('model')
  const input = messagesOf(fields, reading)
  const common = { ...head, model, input, sampling: samplingOf(fields, reading) }
  if (type === 'score_model') return { ...common, type, range: rangeOf(fields) }
  const labels = fields.texts('labels')
  const passingLabels = fields.texts('passing_labels')
  if (labels.length === 0) throw fields.problem('has no labels')
  if (new Set(labels).size !== labels.length) throw fields.problem('has a label twice')
  const stray = passingLabels.find((label) => !labels.includes(label))
  if (stray !== undefined)
    throw fields.problem(
      `passes the label ${JSON.stringify(stray).slice(0, 60)}, which is none of its labels`,
    )
  if (passingLabels.length === 0) reading.guess(`${fields.at} passes no label: it scores 0 whatever is said.`)
  return { ...common, type, labels, passingLabels }
}

function rangeOf(fields: Fields): readonly [number, number] {
  const list = fields.list('range')
  if (list === undefined) return [0, 1]
  const [low, high] = list
  const isRange =
    list.length === 2 &&
    typeof low === 'number' &&
    typeof high === 'number' &&
    Number.isFinite(low) &&
    Number.isFinite(high) &&
    low < high
  if (!isRange) throw fields.problem('has a "range" that is not two numbers, the lower first')
  return [low, high]
}

const samplingFields = [
  ...['max_completions_tokens', 'max_completion_tokens', 'max_tokens', 'max_output_tokens'],
  ...['reasoning_effort', 'reasoning', 'seed', 'temperature', 'top_p'],
]

function samplingOf(fields: Fields, reading: GraderReading): ScoreModelGrader['sampling'] {
  const given = fields.first('sampling_params')
  if (given === undefined) return {}
  const settings = reading.fields(given, `${fields.at}.sampling_params`)
  const reasoning = settings.first('reasoning')
  const effort =
    settings.text('reasoning_effort') ??
    (reasoning === undefined
      ? undefined
      : reading.fields(reasoning, `${settings.at}.reasoning`).text('effort'))
  const known = {
    maxTokens: settings.number(
      'max_completions_tokens',
      'max_completion_tokens',
      'max_tokens',
      'max_output_tokens',
    ),
    reasoningEffort: effort,
    seed: settings.number('seed'),
    temperature: settings.number('temperature'),
    topP: settings.number('top_p'),
  }
  settings.unread(samplingFields, reading)
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
}

const roles = ['system', 'developer', 'user', 'assistant'] as const

function messagesOf(fields: Fields, reading: GraderReading): GraderMessage[] {
  const given = fields.first('input', 'messages')
  if (typeof given === 'string') {
    reading.guess(`${fields.at}.input is a text; it is taken for a user message.`)
    return [{ role: 'user', content: [{ type: 'text', text: given }] }]
  }
  const list: unknown[] | undefined = Array.isArray(given) ? given : given === undefined ? undefined : [given]
  if (list === undefined) throw fields.problem('has no list of messages as "input"')
  if (list.length === 0) throw fields.problem('has no message in "input"')
  return list.map((value, place) => {
    const message = reading.fields(value, `${fields.at}.input[${place}]`)
    const said = message.text('role')
    if (said === undefined) reading.guess(`${message.at} has no role; it is taken for the user's.`)
    const role = said ?? 'user'
    const known = roles.find((name) => name === role)
    if (known === undefined)
      throw message.problem(
        `has the role ${JSON.stringify(role).slice(0, 40)}; it is one of ${roles.join(', ')}`,
      )
    return { role: known, content: contentOf(message, reading) }
  })
}

function contentOf(message: Fields, reading: GraderReading): GraderPart[] {
  const given = message.first('content')
  if (given === undefined) throw message.problem('has no "content"')
  if (typeof given === 'string') return [{ type: 'text', text: given }]
  const parts: unknown[] = Array.isArray(given) ? given : [given]
  return parts.map((value, place) => {
    if (typeof value === 'string') return { type: 'text', text: value }
    return partOf(reading.fields(value, `${message.at}.content[${place}]`), reading)
  })
}

function partOf(part: Fields, reading: GraderReading): GraderPart {
  const type = part.text('type')
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.need('text') }
    case 'input_image':
    case 'image_url': {
      const given = part.first('image_url')
      const image = typeof given === 'object' ? reading.fields(given, `${part.at}.image_url`) : undefined
      const url = image?.need('url') ?? part.need('image_url')
      const detail = image?.text('detail') ?? part.text('detail')
      return { type: 'image', url, ...(detail === undefined ? {} : { detail }) }
    }
    case 'input_audio': {
      const audio = reading.fields(part.first('input_audio'), `${part.at}.input_audio`)
      return { type: 'audio', data: audio.need('data'), format: audio.need('format') }
    }
    default:
      throw part.problem(`has the unknown type ${JSON.stringify(type ?? null).slice(0, 40)}`)
  }
}
