import type { AskJudge, FaultOwner } from '../../core/index.ts'

/**
 * Graders of hosted reinforcement fine-tuning and evals, in one canonical form: what `readGrader` makes of every
 * spelling that files hold. Shapes: openai-node 7.59.0 `resources/graders/grader-models.d.ts`.
 */
export type Grader =
  | StringCheckGrader
  | TextSimilarityGrader
  | ScoreModelGrader
  | LabelModelGrader
  | PythonGrader
  | MultiGrader

interface Named {
  name: string
  /** Of Evals: the score from which a row passes. */
  passThreshold?: number
}

export interface StringCheckGrader extends Named {
  type: 'string_check'
  /** Templates, as all texts of graders are. */
  input: string
  reference: string
  /** `like` and `ilike`: the input contains the reference, `ilike` without regard to case. */
  operation: 'eq' | 'ne' | 'like' | 'ilike'
}

export type SimilarityMetric =
  | 'cosine'
  | 'fuzzy_match'
  | 'bleu'
  | 'gleu'
  | 'meteor'
  | 'rouge_1'
  | 'rouge_2'
  | 'rouge_3'
  | 'rouge_4'
  | 'rouge_5'
  | 'rouge_l'

export interface TextSimilarityGrader extends Named {
  type: 'text_similarity'
  input: string
  reference: string
  metric: SimilarityMetric
}

export type GraderPart =
  | { type: 'text'; text: string }
  | { type: 'image'; url: string; detail?: string }
  | { type: 'audio'; data: string; format: string }

export interface GraderMessage {
  role: 'system' | 'developer' | 'user' | 'assistant'
  content: readonly GraderPart[]
}

interface ModelGrader extends Named {
  model: string
  input: readonly GraderMessage[]
  sampling: {
    maxTokens?: number
    reasoningEffort?: string
    seed?: number
    temperature?: number
    topP?: number
  }
}

export interface ScoreModelGrader extends ModelGrader {
  type: 'score_model'
  /** Lowest and highest score; `[0, 1]` when the file names none. */
  range: readonly [number, number]
}

export interface LabelModelGrader extends ModelGrader {
  type: 'label_model'
  labels: readonly string[]
  passingLabels: readonly string[]
}

export interface PythonGrader extends Named {
  type: 'python'
  /** Defines `grade(sample, item)`. */
  source: string
  imageTag?: string
}

export interface MultiGrader extends Named {
  type: 'multi'
  /** In the order of the file; the names are the variables of the formula. */
  graders: Readonly<Record<string, Exclude<Grader, MultiGrader>>>
  calculateOutput: string
}

/** The row that a grader reads as `item.*`: everything in the file but `messages` and `tools`. */
export type GraderItem = Readonly<Record<string, unknown>>

/** What the model under test gave: `sample.*`. */
export interface GraderSample {
  output_text: string
  /** Set when the task asked for structured output, or when the text is JSON. Absent: there is none. */
  output_json?: unknown
  /** Tool calls of Chat Completions. */
  output_tools?: readonly unknown[]
  /** Choices of Chat Completions. */
  choices?: readonly unknown[]
  output_audio?: { data: string; transcript: string }
}

/** Why a grader gave no score of its own, in the words of the hosted vendor. */
export type GraderErrorCode =
  | 'formula_parse_error'
  | 'sample_parse_error'
  | 'truncated_observation_error'
  | 'unresponsive_reward_error'
  | 'invalid_variable_error'
  | 'other_error'
  | 'python_grader_server_error'
  | 'python_grader_runtime_error'
  | 'model_grader_server_error'
  | 'model_grader_refusal_error'
  | 'model_grader_parse_error'
  | 'model_grader_exceeded_max_tokens_error'
  /** Not the vendor's, which moves such a score to the end of the range: that hides a judge who is broken. */
  | 'out_of_range'

/** What is done where the vendor makes a number of a grader that failed. */
export interface GraderPolicy {
  /** A score of a model outside of its range: none (the default), or the nearer end as the vendor has it. */
  outOfRange?: 'fault' | 'clamp'
  /** A Python source that raised or gave no number: none (the default), or 0 as the vendor has it. */
  pythonError?: 'fault' | 'zero'
}

/**
 * What a grader came to. `score` is null when it could not run, which is a fault and never a zero; `error` then says
 * why. With the error `sample_parse_error` the score is 0: what the task asked for is not what the agent said.
 */
export interface GraderResult {
  name: string
  type: Grader['type']
  score: number | null
  error?: { code: GraderErrorCode; message: string }
  /** Of Evals: whether the score reaches the threshold, or the label is a passing one. */
  passed?: boolean
  /** The number that a model or a Python source gave, before anything was made of it. */
  raw?: number
  /** Of `score_model`: `raw` on the scale from 0 to 1 that its range spans. The score is the raw number, as the vendor's is. */
  normalised?: number
  label?: string | null
  /** Of `multi`: what each of its graders came to. */
  parts?: Readonly<Record<string, GraderResult>>
  /** Which interpreter and packages ran a Python source, which model answered. */
  by?: Readonly<Record<string, unknown>>
  /** What a model grader said. */
  reply?: string
  /** The fault behind the error, where one was thrown: whose it is, and whether another try may do. */
  fault?: { owner: FaultOwner; code: string; retryable: boolean }
}

/** What a Python source came to. */
export type PythonGrade =
  | { ok: true; value: number; stdout: string; runtime: PythonRuntime; ms: number }
  | {
      ok: false
      /** The source failed (exception, no number, limits: the vendor's reward is 0), or there is nothing to run it with. */
      code: 'python_grader_runtime_error' | 'python_grader_server_error'
      message: string
      stdout: string
      runtime: PythonRuntime | null
      ms: number
    }

/** What ran it: which build of CPython, and the versions of the packages that it imported. */
export interface PythonRuntime {
  kind: 'box' | 'wasm'
  python: string
  packages: Readonly<Record<string, string>>
  /** Packages whose version is another than the vendor's image has, or that are not there. */
  unlike: readonly string[]
}

/** Runs `grade(sample, item)` of a Python source, each time in an interpreter that no other sample was in. */
export type RunPython = (
  source: string,
  input: { sample: GraderSample; item: GraderItem; imageTag?: string },
  options?: { signal?: AbortSignal },
) => Promise<PythonGrade>

/** Vectors of texts, for `cosine`. */
export type Embed = (
  texts: readonly string[],
  options?: { signal?: AbortSignal },
) => Promise<readonly (readonly number[])[]>

/** What graders need beside themselves. A grader whose means are not there is an error of its kind, not a score. */
export interface GraderMeans {
  /** Asks the model that a grader names. */
  ask?: AskJudge
  python?: RunPython
  embed?: Embed
}
