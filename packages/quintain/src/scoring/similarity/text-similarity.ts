import type { Embed, SimilarityMetric } from '../graders/grader.ts'
import { cosineOf } from './cosine.ts'
import { jaro, jaroWinkler } from './jaro.ts'
import { levenshteinSimilarity } from './levenshtein.ts'
import { meteor } from './meteor.ts'
import { bleu, gleu } from './ngrams.ts'
import { partialRatio, ratio, tokenSetRatio, tokenSortRatio, weightedRatio } from './rapidfuzz.ts'
import { rougeL, rougeN } from './rouge.ts'
import { tfidfCosine } from './tfidf.ts'
import { dice, jaccard } from './word-sets.ts'

/** Metrics that need nothing but the two texts: those of hosted graders, and some more. */
export type TextMetric =
  | Exclude<SimilarityMetric, 'cosine'>
  | 'levenshtein'
  | 'jaro'
  | 'jaro_winkler'
  | 'jaccard'
  | 'dice'
  | 'cosine_tfidf'
  | 'partial_ratio'
  | 'token_sort_ratio'
  | 'token_set_ratio'
  | 'weighted_ratio'

const metrics: Readonly<Record<TextMetric, (input: string, reference: string) => number | null>> = {
  fuzzy_match: ratio,
  bleu,
  gleu,
  meteor,
  rouge_1: (input, reference) => rougeN(input, reference, 1),
  rouge_2: (input, reference) => rougeN(input, reference, 2),
  rouge_3: (input, reference) => rougeN(input, reference, 3),
  rouge_4: (input, reference) => rougeN(input, reference, 4),
  rouge_5: (input, reference) => rougeN(input, reference, 5),
  rouge_l: rougeL,
  levenshtein: levenshteinSimilarity,
  jaro,
  jaro_winkler: jaroWinkler,
  jaccard,
  dice,
  cosine_tfidf: tfidfCosine,
  partial_ratio: partialRatio,
  token_sort_ratio: tokenSortRatio,
  token_set_ratio: tokenSetRatio,
  weighted_ratio: weightedRatio,
}

/** Names of the metrics that need nothing but the two texts. */
export const textMetrics: readonly TextMetric[] = Object.freeze(Object.keys(metrics).filter(isTextMetric))

/** Whether a name is one of those metrics. */
export function isTextMetric(name: string): name is TextMetric {
  return Object.hasOwn(metrics, name)
}

/** Code points, about, that the two texts may have together: words and runs of them are kept in memory. */
const mostText = 24_000_000

/**
 * How alike two texts are, from 0 to 1. Each name is one formula, written down with its source and its tolerance in
 * `docs/text-similarity.md`. Two empty texts are alike (1) and one is like nothing (0), whatever the metric.
 *
 * Null: together the texts are too long for this metric, and nothing was measured. Never throws for what a text holds.
 *
 * @example textSimilarity({ metric: 'fuzzy_match', input: 'colour', reference: 'color' }) // 0.909…
 */
export function textSimilarity(options: {
  metric: TextMetric
  input: string
  reference: string
}): number | null {
  const { metric, input, reference } = options
  if (input === '' || reference === '') return input === reference ? 1 : 0
  if (input.length + reference.length > mostText) return null
  return metrics[metric](input, reference)
}

/**
 * Cosine of the embeddings of two texts, from -1 to 1. Throws what `embed` throws, and a RangeError when it does not give
 * two vectors of one length.
 */
export async function cosineSimilarity(
  embed: Embed,
  texts: { input: string; reference: string },
  options: { signal?: AbortSignal } = {},
): Promise<number> {
  const [a, b, ...more] = await embed([texts.input, texts.reference], options)
  if (a === undefined || b === undefined || more.length > 0) {
    throw new RangeError('embed was given two texts and gave another number of vectors')
  }
  return cosineOf(a, b)
}
