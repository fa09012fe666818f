import { QuintainError } from '../core/index.ts'
import type { Datum } from './engine.ts'

const perToken = ['weights', 'advantages', 'logprobs', 'reference'] as const

/**
 * Throws `datum_invalid`, naming the datum, where an engine of this vocabulary and context cannot train on the data: none at
 * all, an empty sequence, more tokens than the context, ids outside the vocabulary, arrays of another length than the
 * target, or a number that is none. For `forwardBackward` and `forward` of engines, before anything is computed.
 */
export function checkData(
  data: readonly Datum[],
  { vocabulary, context }: { vocabulary: number; context: number },
): void {
  if (data.length === 0) throw invalid('there is no datum. Give at least one sequence to train on.', {})
  for (const [at, datum] of data.entries()) {
    const { input, target } = datum
    const refuse = (what: string) => invalid(`datum ${at} ${what}`, { datum: at })
    if (input.length === 0) throw refuse('has no token: a sequence needs at least one input and its target.')
    if (input.length !== target.length) {
      throw refuse(
        `has ${input.length} input and ${target.length} target ids. Give ids[0..n-1] and ids[1..n], which are as many.`,
      )
    }
    if (input.length > context) {
      throw refuse(`has ${input.length} tokens, and the context is ${context}. Cut it, or leave it out.`)
    }
    for (const ids of [input, target]) {
      const wrong = ids.find((id) => id < 0 || id >= vocabulary)
      if (wrong !== undefined) {
        throw refuse(
          `holds the id ${wrong}, and the vocabulary has ${vocabulary}, from 0. Is it of another model?`,
        )
      }
    }
    for (const name of perToken) {
      const values = datum[name]
      if (values === undefined) continue
      if (values.length !== target.length) {
        throw refuse(
          `has ${values.length} ${name} for ${target.length} targets. There is one for each target.`,
        )
      }
      const place = values.findIndex((value) => !Number.isFinite(value))
      if (place >= 0)
        throw refuse(`has ${values[place]} among its ${name}, at target ${place}. Leave it out.`)
    }
  }
}

function invalid(message: string, facts: Record<string, unknown>): QuintainError {
  return new QuintainError('datum_invalid', message, { facts })
}
