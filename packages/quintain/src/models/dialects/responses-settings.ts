import type { Sampling, ToolSpec } from '../../core/model.ts'
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

/** Settings of sampling. */
export function readSampling(body: Fields): Sampling {
  const temperature = optionalNumber(body, 'temperature')
  const topP = optionalNumber(body, 'top_p')
  const maxTokens = optionalCount(body, 'max_output_tokens')
  const seed = optionalNumber(body, 'seed')
  const reasoning = optionalFields(body, 'reasoning')
  const reasoningEffort = reasoning && optionalText(reasoning, 'effort', 'reasoning.')
  const given = optional(body, 'stop')
  const stop = typeof given === 'string' ? [given] : optionalList(body, 'stop')?.map(String)
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(stop === undefined ? {} : { stop }),
    ...(seed === undefined ? {} : { seed }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  }
}

/** Settings beyond those; names of what no other dialect can say are added to `own`. */
export function readSettings(
  body: Fields,
  tools: readonly ToolSpec[],
  own: string[],
): Omit<WireSettings, 'own'> {
  const reasoning = optionalFields(body, 'reasoning') ?? {}
  for (const [field, usual] of [
    ['mode', 'standard'],
    ['context', 'auto'],
  ] as const)
    if ((optionalText(reasoning, field, 'reasoning.') ?? usual) !== usual) own.push(`reasoning.${field}`)
  if ((optionalText(body, 'truncation') ?? 'disabled') !== 'disabled') own.push('truncation')
  const text = optionalFields(body, 'text') ?? {}
  const verbosity = optionalText(text, 'verbosity', 'text.')
  const responseFormat = readFormat(optionalFields(text, 'format', 'text.'))
  const toolChoice = readToolChoice(optional(body, 'tool_choice'), tools, own)
  const parallelToolCalls = optionalFlag(body, 'parallel_tool_calls')
  const topK = optionalNumber(body, 'top_k')
  const minP = optionalNumber(body, 'min_p')
  const frequencyPenalty = optionalNumber(body, 'frequency_penalty')
  const presencePenalty = optionalNumber(body, 'presence_penalty')
  const topLogprobs = optionalNumber(body, 'top_logprobs')
  return {
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(topK === undefined ? {} : { topK }),
    ...(minP === undefined ? {} : { minP }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
    // The middle is what every provider does by itself.
    ...(verbosity === undefined || verbosity === 'medium' ? {} : { verbosity }),
  }
}

function readFormat(format: Fields | undefined): WireSettings['responseFormat'] {
  if (format === undefined) return undefined
  const at = 'text.format.'
  const type = requiredText(format, 'type', at)
  if (type === 'text') return undefined
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema') throw unsupported(`A text format of type '${type}'`, `${at}type`)
  const strict = optionalFlag(format, 'strict', at)
  const description = optionalText(format, 'description', at)
  return {
    type: 'schema',
    name: requiredText(format, 'name', at),
    schema: { ...fieldsOf(optional(format, 'schema'), `${at}schema`) },
    ...(strict === undefined ? {} : { strict }),
    ...(description === undefined ? {} : { description }),
  }
}

function readToolChoice(
  choice: unknown,
  tools: readonly ToolSpec[],
  own: string[],
): WireSettings['toolChoice'] {
  if (choice === undefined) return undefined
  if (choice === 'none' || choice === 'auto' || choice === 'required') return choice
  const given = fieldsOf(choice, 'tool_choice')
  const type = requiredText(given, 'type', 'tool_choice.')
  if (type === 'function') return { tool: requiredText(given, 'name', 'tool_choice.') }
  if (type !== 'allowed_tools') throw unsupported(`A tool choice of type '${type}'`, 'tool_choice.type')
  const mode = requiredText(given, 'mode', 'tool_choice.')
  if (mode !== 'auto' && mode !== 'required') throw wrong('tool_choice.mode', "'auto' or 'required'")
  const allowed = new Set(
    (optionalList(given, 'tools', 'tool_choice.') ?? []).map((entry, index) =>
      requiredText(fieldsOf(entry, `tool_choice.tools[${index}]`), 'name', `tool_choice.tools[${index}].`),
    ),
  )
  if (tools.some(({ name }) => !allowed.has(name))) own.push('tool_choice.allowed_tools')
  return mode
}
