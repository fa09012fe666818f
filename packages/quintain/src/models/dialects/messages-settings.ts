import type { Sampling } from '../../core/model.ts'
import type { WireSettings } from '../../core/wire.ts'
import {
  type Fields,
  fieldsOf,
  optional,
  optionalCount,
  optionalFields,
  optionalFlag,
  optionalList,
  optionalNumber,
  optionalText,
  requiredText,
  unsupported,
  wrong,
} from './body-fields.ts'
import { DialectError } from './dialect.ts'

/** Settings of sampling. */
export function readSampling(body: Fields): Sampling {
  const maxTokens = optionalCount(body, 'max_tokens')
  if (maxTokens === undefined)
    throw new DialectError('invalid_request', 'max_tokens: Field required', 'max_tokens')
  const temperature = optionalNumber(body, 'temperature')
  const topP = optionalNumber(body, 'top_p')
  const stop = optionalList(body, 'stop_sequences')?.map((text, index) => {
    if (typeof text !== 'string') throw wrong(`stop_sequences.${index}`, 'a string')
    return text
  })
  const effort = optionalText(optionalFields(body, 'output_config') ?? {}, 'effort', 'output_config.')
  return {
    maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
  }
}

/** Settings beyond those; names of what no other dialect can say are added to `own`. */
export function readSettings(body: Fields, own: string[]): Omit<WireSettings, 'own'> {
  const topK = optionalNumber(body, 'top_k')
  const format =
    optionalFields(optionalFields(body, 'output_config') ?? {}, 'format', 'output_config.') ??
    optionalFields(body, 'output_format')
  const responseFormat = readFormat(format)
  const reasoningTokens = readThinking(optionalFields(body, 'thinking'), own)
  return {
    ...readToolChoice(optionalFields(body, 'tool_choice')),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(topK === undefined ? {} : { topK }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

function readFormat(format: Fields | undefined): WireSettings['responseFormat'] {
  if (format === undefined) return undefined
  const at = 'output_config.format.'
  const type = requiredText(format, 'type', at)
  if (type !== 'json_schema') throw unsupported(`An output format of type '${type}'`, `${at}type`)
  const schema = { ...fieldsOf(optional(format, 'schema'), `${at}schema`) }
  return { type: 'schema', name: 'output', schema, strict: true }
}

/** Tokens of thinking at most; undefined where the model decides, as it does without being told so. */
function readThinking(thinking: Fields | undefined, own: string[]): number | undefined {
  if (thinking === undefined) return undefined
  const type = requiredText(thinking, 'type', 'thinking.')
  if (type === 'enabled') {
    const budget = optionalCount(thinking, 'budget_tokens', 'thinking.')
    if (budget === undefined) throw wrong('thinking.budget_tokens', 'a positive integer')
    return budget
  }
  if (type === 'disabled') return 0
  if (type !== 'adaptive') own.push(`thinking.type (${type})`)
  return undefined
}

function readToolChoice(choice: Fields | undefined): Pick<WireSettings, 'toolChoice' | 'parallelToolCalls'> {
  if (choice === undefined) return {}
  const type = requiredText(choice, 'type', 'tool_choice.')
  const alone = optionalFlag(choice, 'disable_parallel_tool_use', 'tool_choice.')
  const parallel = alone === undefined ? {} : { parallelToolCalls: !alone }
  switch (type) {
    case 'auto':
    case 'none':
      return { toolChoice: type, ...parallel }
    case 'any':
      return { toolChoice: 'required', ...parallel }
    case 'tool':
      return { toolChoice: { tool: requiredText(choice, 'name', 'tool_choice.') }, ...parallel }
    default:
      throw wrong('tool_choice.type', "'auto', 'any', 'tool' or 'none'")
  }
}
