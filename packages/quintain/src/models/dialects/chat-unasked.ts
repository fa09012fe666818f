import type { WireRequest } from '../../core/index.ts'
import { isFields } from './body-fields.ts'

/** Fields of a reply that are there because the gateway asked for them, or that are of no use to a program. */
const ofBody = ['prompt_token_ids', 'prompt_logprobs', 'weight_version', 'kv_transfer_params']
const ofChoice = ['token_ids', 'prompt_token_ids', 'response_token_ids', 'meta_info']

/** Fields of a request by which a program asks for such fields itself. */
const askedBy: Readonly<Record<string, readonly string[]>> = {
  prompt_token_ids: ['return_token_ids', 'return_prompt_token_ids'],
  token_ids: ['return_token_ids'],
  response_token_ids: ['return_token_ids'],
  meta_info: ['return_meta_info'],
  prompt_logprobs: ['prompt_logprobs'],
}

const asks = Object.values(askedBy).flat()

/** Takes out of a reply what its program did not ask for. */
export interface Unasked {
  /** The body or chunk without it: the same object when there is nothing to take out, else a copy. */
  strip(body: Record<string, unknown>): Record<string, unknown>
}

export function unaskedOf(wire: WireRequest): Unasked {
  const asked = asks.filter((ask) => wire.body[ask] !== undefined && wire.body[ask] !== false)
  const wanted = (field: string): boolean => askedBy[field]?.some((ask) => asked.includes(ask)) === true
  const bodyFields = asked.length === 0 ? ofBody : ofBody.filter((field) => !wanted(field))
  const choiceFields = asked.length === 0 ? ofChoice : ofChoice.filter((field) => !wanted(field))
  const { logprobs } = wire.wants

  /** Log-probabilities are an empty field in every reply of OpenAI's; only what is in it goes. */
  const holds = (choice: Record<string, unknown>): boolean =>
    choiceFields.some((field) => field in choice) || (!logprobs && isFields(choice['logprobs']))

  function stripChoice(choice: unknown): unknown {
    if (!isFields(choice) || !holds(choice)) return choice
    const kept: Record<string, unknown> = { ...choice }
    for (const field of choiceFields) delete kept[field]
    if (!logprobs && isFields(kept['logprobs'])) kept['logprobs'] = null
    return kept
  }

  return {
    strip(body) {
      const { choices } = body
      const inBody = bodyFields.some((field) => field in body)
      const inChoices = Array.isArray(choices) && choices.some((choice) => isFields(choice) && holds(choice))
      if (!inBody && !inChoices) return body
      const kept = { ...body }
      for (const field of bodyFields) delete kept[field]
      if (inChoices) kept['choices'] = choices.map(stripChoice)
      return kept
    },
  }
}
