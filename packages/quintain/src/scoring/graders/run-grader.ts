import { FaultError, isThrown, QuintainError } from '../../core/index.ts'
import { cosineSimilarity, textSimilarity } from '../similarity/text-similarity.ts'
import type {
  Grader,
  GraderErrorCode,
  GraderItem,
  GraderMeans,
  GraderPolicy,
  GraderResult,
  GraderSample,
  MultiGrader,
  PythonGrader,
  StringCheckGrader,
  TextSimilarityGrader,
} from './grader.ts'
import { failed } from './grader-failure.ts'
import { runModelGrader } from './run-model-grader.ts'
import { evaluateScoreFormula, parseFormula } from './score-formula.ts'
import { renderTemplate } from './template.ts'

export interface RunGraderOptions {
  grader: Grader
  /** The row: what templates name `item`. */
  item: GraderItem
  /** What the agent gave: what templates name `sample`. */
  sample: GraderSample
  means?: GraderMeans
  policy?: GraderPolicy
  signal?: AbortSignal
}

/**
 * Runs a hosted grader on what an agent gave. The score is the number that the vendor calls the reward, in the grader's own
 * range; null with `error` when the grader could not run. Parts of `multi` run once each, and all of them.
 *
 * Throws what the signal says when it aborts, and `usage` when a model grader names a judge that is not declared.
 *
 * @example
 * const { grader } = readGrader(JSON.parse(text))
 * const { score } = await runGrader({ grader, item: { answer: '4' }, sample: { output_text: '4' } })
 */
export async function runGrader(options: RunGraderOptions): Promise<GraderResult> {
  const { grader, signal } = options
  signal?.throwIfAborted()
  const result = await resultOf(grader, options)
  const { passThreshold } = grader
  if (passThreshold === undefined || result.score === null) return result
  return { ...result, passed: result.score >= passThreshold }
}

function resultOf(grader: Grader, options: RunGraderOptions): GraderResult | Promise<GraderResult> {
  switch (grader.type) {
    case 'string_check':
      return stringCheck(grader, options)
    case 'text_similarity':
      return similarity(grader, options)
    case 'score_model':
    case 'label_model':
      return runModelGrader(grader, options)
    case 'python':
      return python(grader, options)
    case 'multi':
      return multi(grader, options)
  }
}

type Texts = { ok: true; input: string; reference: string } | { ok: false; result: GraderResult }

function textsOf(grader: StringCheckGrader | TextSimilarityGrader, options: RunGraderOptions): Texts {
  const input = renderTemplate(grader.input, options)
  const reference = renderTemplate(grader.reference, options)
  // What is wrong with the grader comes before what is wrong with the answer.
  const problems = [input, reference].flatMap((one) => (one.ok ? [] : [one]))
  const problem = problems.find(({ code }) => code === 'invalid_variable_error') ?? problems[0]
  if (problem !== undefined) return { ok: false, result: failed(grader, problem.code, problem.message) }
  return {
    ok: true,
    input: input.ok ? input.text : '',
    reference: reference.ok ? reference.text : '',
  }
}

function stringCheck(grader: StringCheckGrader, options: RunGraderOptions): GraderResult {
  const texts = textsOf(grader, options)
  if (!texts.ok) return texts.result
  const passed = holds(grader.operation, texts)
  return { name: grader.name, type: grader.type, score: passed ? 1 : 0, passed }
}

function holds(
  operation: StringCheckGrader['operation'],
  { input, reference }: { input: string; reference: string },
): boolean {
  switch (operation) {
    case 'eq':
      return input === reference
    case 'ne':
      return input !== reference
    case 'like':
      return input.includes(reference)
    case 'ilike':
      return input.toLowerCase().includes(reference.toLowerCase())
  }
}

async function similarity(grader: TextSimilarityGrader, options: RunGraderOptions): Promise<GraderResult> {
  const texts = textsOf(grader, options)
  if (!texts.ok) return texts.result
  const { input, reference } = texts
  const { metric, name, type } = grader
  if (metric !== 'cosine') {
    const score = textSimilarity({ metric, input, reference })
    if (score === null) return failed(grader, 'sample_parse_error', `the texts are too long for ${metric}`)
    return { name, type, score }
  }
  const { means: { embed } = {}, signal } = options
  if (embed === undefined)
    return failed(grader, 'other_error', 'cosine needs embeddings, and there is nothing that makes them')
  return await guarded(grader, 'other_error', signal, async () => ({
    ...{ name, type },
    score: await cosineSimilarity(embed, { input, reference }, signal === undefined ? {} : { signal }),
  }))
}

async function python(grader: PythonGrader, options: RunGraderOptions): Promise<GraderResult> {
  const { item, sample, means: { python: run } = {}, policy, signal } = options
  if (run === undefined)
    return failed(grader, 'python_grader_server_error', 'there is nothing here that runs Python')
  const { imageTag } = grader
  const input = { sample, item, ...(imageTag === undefined ? {} : { imageTag }) }
  return await guarded(grader, 'python_grader_server_error', signal, async () => {
    const grade = await run(grader.source, input, signal === undefined ? {} : { signal })
    const by = { runtime: grade.runtime, ms: grade.ms, stdout: grade.stdout }
    if (grade.ok && Number.isFinite(grade.value))
      return { name: grader.name, type: grader.type, score: grade.value, raw: grade.value, by }
    const code = grade.ok ? 'python_grader_runtime_error' : grade.code
    const result = failed(grader, code, grade.ok ? 'the source gave no finite number' : grade.message)
    const isZero = policy?.pythonError === 'zero' && code === 'python_grader_runtime_error'
    return { ...result, ...(isZero ? { score: 0 } : {}), by }
  })
}

/** A fault that was thrown (a box that was lost, an endpoint that is down) becomes an error of the grader, and is kept. */
async function guarded(
  grader: Grader,
  code: GraderErrorCode,
  signal: AbortSignal | undefined,
  run: () => Promise<GraderResult>,
): Promise<GraderResult> {
  try {
    return await run()
  } catch (thrown) {
    signal?.throwIfAborted()
    if (QuintainError.isInstance(thrown) || !isThrown(thrown, Error)) throw thrown
    const result = failed(grader, code, thrown.message)
    return isThrown(thrown, FaultError) ? { ...result, fault: thrown.fault } : result
  }
}

async function multi(grader: MultiGrader, options: RunGraderOptions): Promise<GraderResult> {
  const reading = parseFormula(grader.calculateOutput)
  if (!reading.ok) return failed(grader, 'formula_parse_error', `${reading.message} (at ${reading.at})`)
  const stray = reading.names.find((name) => !Object.hasOwn(grader.graders, name))
  if (stray !== undefined)
    return failed(
      grader,
      'invalid_variable_error',
      `the formula names "${stray}", and there is no such grader`,
    )
  const names = Object.keys(grader.graders)
  // All are waited for before one is thrown: nothing goes on behind a grading that is over.
  const settled = await Promise.allSettled(
    Object.values(grader.graders).map((part) => runGrader({ ...options, grader: part })),
  )
  const results = settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
  const parts = Object.fromEntries(results.map((result, place) => [names[place]!, result]))
  // A part that could not run leaves no score, even where the formula would not need it.
  const lost = results.findIndex(({ score }) => score === null)
  const cause = results[lost]
  if (cause !== undefined) {
    const { code = 'other_error', message = '' } = cause.error ?? {}
    const result = failed(grader, code, `"${names[lost]}" gave no score: ${message}`)
    return { ...result, parts, ...(cause.fault === undefined ? {} : { fault: cause.fault }), score: null }
  }
  const scores = Object.fromEntries(results.map(({ score }, place) => [names[place]!, score ?? 0]))
  const value = evaluateScoreFormula(reading.formula, scores)
  if (!value.ok) return { ...failed(grader, 'other_error', value.message), parts }
  return { name: grader.name, type: grader.type, score: value.value, parts }
}
