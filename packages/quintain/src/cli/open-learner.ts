import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { jsonProblem, QuintainError } from '../core/index.ts'
import { chatRenderer, rendererDescription } from '../train/chat-renderer.ts'
import { createEmbedded } from '../train/embedded/index.ts'
import type { Learner } from '../train/engine.ts'
import { openPolicy } from '../train/open-policy.ts'
import type { Renderer } from '../train/renderer.ts'

/** Options of commands that train: what is trained, and what it begins from. */
export interface LearnerFlags {
  /** A checkpoint, or the folder of a training, whose best one is meant. */
  from?: string
  /** `bytes`, or a file. */
  vocabulary?: string
  layers?: number
  width?: number
  heads?: number
  context?: number
  threads?: number
  seed?: string
}

/** A policy that is ready to be trained. */
export interface OpenedLearner {
  learner: Learner
  renderer: Renderer
  /** What it was loaded from; null for random weights. */
  from: { path: string; digest: string } | null
}

/** Sizes of a new policy: those of the demonstration. */
const sizes = { layers: 2, width: 64, heads: 4, context: 256 }

/**
 * A learner of the embedded engine: from a checkpoint, without what its optimiser remembered, or new, with random weights by
 * the seed. Throws `usage` for options that contradict each other, `checkpoint_invalid`, and `options_invalid` for sizes or a
 * vocabulary that do not do.
 */
export async function openLearner(flags: LearnerFlags, cwd: string): Promise<OpenedLearner> {
  const { from, vocabulary, layers, width, heads, context, seed = '0' } = flags
  const threads = flags.threads === undefined ? {} : { threads: flags.threads }
  if (from !== undefined) {
    const given = Object.entries({ vocabulary, layers, width, heads, context })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => `--${name}`)
    if (given.length > 0)
      throw new QuintainError(
        'usage',
        `With --from the policy is that of the checkpoint, vocabulary and sizes too: leave out ${given.join(', ')}.`,
      )
    const { learner, renderer, digest } = await openPolicy(resolve(cwd, from), threads)
    return { learner, renderer, from: { path: from, digest } }
  }
  const renderer = await readVocabulary(vocabulary ?? 'bytes', cwd)
  const wide = width ?? sizes.width
  const shape = {
    layers: layers ?? sizes.layers,
    width: wide,
    heads: heads ?? sizes.heads,
    feedForward: 4 * wide,
    vocabulary: renderer.vocabulary,
    context: context ?? sizes.context,
  }
  return { learner: await createEmbedded({ shape, seed, ...threads }), renderer, from: null }
}

/** `bytes`, a renderer's JSON, or a list of texts. Throws `options_invalid`. */
async function readVocabulary(text: string, cwd: string): Promise<Renderer> {
  if (text === 'bytes') return chatRenderer({ vocabulary: 'bytes' })
  const refuse = (what: string, cause?: unknown) =>
    new QuintainError(
      'options_invalid',
      `--vocabulary ${text}: ${what}. Give "bytes", a JSON list of texts, or the renderer.json of a checkpoint.`,
      { cause, facts: { file: text } },
    )
  let source: string
  try {
    source = await readFile(resolve(cwd, text), 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw refuse(code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`, cause)
  }
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch (cause) {
    throw refuse(`it is no JSON (${jsonProblem(cause)})`, cause)
  }
  const description = Array.isArray(value) ? { schema: 'quintain.renderer', v: 1, vocabulary: value } : value
  const found = rendererDescription.safeParse(description)
  if (found.success) return chatRenderer(found.data)
  const [issue] = found.error.issues
  throw refuse(`${issue?.path.join('.') || 'it'}: ${issue?.message}`)
}
