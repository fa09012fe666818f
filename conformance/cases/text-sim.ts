import {
  bleu,
  isTextMetric,
  levenshteinSimilarity,
  textSimilarity,
} from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

type Input = Record<string, unknown>

/** The text in a Unicode form (`NFC`, …), in lower case, or without white space at its ends. */
function normalized(value: unknown, how: unknown): string {
  const text = String(value)
  const name = String(how ?? '').toLowerCase()
  const form = /^nfk?[cd]/.exec(name)?.[0].toUpperCase()
  const formed = form === undefined ? text : text.normalize(form)
  if (/trim|strip/.test(name)) return formed.trim()
  return /lower|case/.test(name) ? formed.toLowerCase() : formed
}

function similarity(name: string, { a, b }: Input): number | null {
  const metric = name
    .toLowerCase()
    .replace(/-/g, '_')
    .replace(/^sim[._]/, '')
  const known = new Map([
    ['ratio', 'fuzzy_match'],
    ['fuzzy', 'fuzzy_match'],
    ['fuzzy_ratio', 'fuzzy_match'],
    ['wratio', 'weighted_ratio'],
    ['tfidf_cosine', 'cosine_tfidf'],
    ['tfidf', 'cosine_tfidf'],
    ['cosine', 'cosine_tfidf'],
    ['rouge1', 'rouge_1'],
    ['rouge2', 'rouge_2'],
    ['rougel', 'rouge_l'],
  ])
  const found = known.get(metric) ?? metric
  if (!isTextMetric(found)) throw new Error(`there is no metric ${name}`)
  return textSimilarity({ metric: found, input: String(a), reference: String(b) })
}

export const ops: Ops = {
  'sim.batch': ({ metrics, ...input }) => ({
    values: (metrics as unknown[]).map((metric) => similarity(String(metric), input)),
  }),
  'sim.bleu': ({ a, b, max_n: maxOrder }) => ({
    value:
      a === '' || b === ''
        ? similarity('bleu', { a, b })
        : bleu(String(a), String(b), typeof maxOrder === 'number' ? { maxOrder } : {}),
  }),
  'sim.cosine_tfidf': (input) => ({ value: similarity('cosine_tfidf', input) }),
  'sim.levenshtein': ({ a, b, normalize }) => ({
    value: levenshteinSimilarity(normalized(a, normalize), normalized(b, normalize)),
  }),
  'sim.rouge_l': ({ pred, ref }) => ({ value: similarity('rouge_l', { a: pred, b: ref }) }),
}
