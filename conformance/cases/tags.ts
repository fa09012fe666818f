import type { Message } from '../../packages/quintain/src/core/index.ts'
import {
  type Said,
  stripReasoning,
  type TagMode,
  tagAnswer,
  tagFormat,
} from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

/** A text in the form that a case names: `string`, `message`, `messages`. */
function inForm(text: string, form: string): Said {
  const message: Message = { role: 'assistant', content: text }
  if (/parts|content/.test(form)) return { role: 'assistant', content: [{ type: 'text', text }] }
  if (/messages|list|chat|conversation/.test(form)) return [{ role: 'user', content: 'Go.' }, message]
  return /message/.test(form) ? message : text
}

export const ops: Ops = {
  'tags.answer': ({ field, text, as, mode }) => {
    const options = { field: String(field), ...(mode === 'strict' ? { mode: 'strict' as TagMode } : {}) }
    const answers = ((as ?? ['string']) as unknown[]).map((form) =>
      tagAnswer(inForm(String(text), String(form)), options),
    )
    const [{ answer, normalizedCase, reason } = { answer: null, normalizedCase: false, reason: 'empty' }] =
      answers
    return {
      answer: as === undefined ? answer : answers.map((each) => each.answer),
      normalised_case: normalizedCase,
      reason: reason ?? null,
    }
  },
  'tags.format': ({ fields, text }) => {
    const { wellFormed, score, broken } = tagFormat(String(text), {
      fields: (fields as unknown[]).map(String),
    })
    return { well_formed: wellFormed, score, broken }
  },
  'think.strip': ({ text }) => {
    const { answer, reasoning } = stripReasoning(String(text))
    return { answer_text: answer, reasoning }
  },
}
