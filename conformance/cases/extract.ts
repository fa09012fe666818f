import { extractAnswer, type SingleAnswerKind, toNumber } from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

/** Names that cases use for kinds. */
const kinds: Record<string, SingleAnswerKind | 'boxed_list' | 'choice'> = {
  boxed: 'boxed',
  boxed_list: 'boxed_list',
  choice: 'choice',
  code: 'code',
  final_number: 'final_number',
  hash_marker: 'hash_marker',
  number: 'final_number',
  text: 'text',
}

export const ops: Ops = {
  'answer.extract': ({ text, kind, choices, finish_reason: finish }) => {
    const known = kinds[String(kind)]
    if (known === undefined) return { error: 'unknown_kind', message: String(kind) }
    const truncated = finish === 'length'
    const said = String(text)
    if (known === 'boxed_list') return extractAnswer(said, { kind: known, truncated })
    if (known === 'choice')
      return extractAnswer(said, { kind: known, choices: (choices as unknown[]).map(String), truncated })
    const { number, ...found } = extractAnswer(said, { kind: known, truncated })
    return { ...found, ...(number === undefined ? {} : { number: toNumber(number.value) }) }
  },
}
