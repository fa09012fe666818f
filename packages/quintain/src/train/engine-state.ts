import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { sha256 } from '../core/canonical.ts'
import { messageOf, QuintainError } from '../core/errors.ts'
import { checkpointFiles, invalid, readPart } from './checkpoint.ts'
import type { ModelShape } from './engine.ts'
import { replaceFolder } from './replace-folder.ts'
import { decodeSafetensors, encodeSafetensors, type Tensor } from './safetensors.ts'

/** A learner as its folder has it. */
export interface EngineState {
  model: ModelShape
  /** Optimiser steps so far. */
  version: number
  weights: ReadonlyMap<string, Tensor>
  /** Absent where a policy was written that is not to be trained on. */
  optimiser?: ReadonlyMap<string, Tensor>
  /** Whatever else the engine needs to go on as it would have gone on, such as the steps that moments have seen. */
  numbers: Readonly<Record<string, number>>
}

const modelFile = z.object({
  schema: z.literal('quintain.model'),
  v: z.literal(1),
  kind: z.string(),
  parameters: z.int().min(0),
  sizes: z.record(z.string(), z.number()),
})

const stateFile = z.object({
  schema: z.literal('quintain.engine-state'),
  v: z.literal(1),
  version: z.int().min(0),
  numbers: z.record(z.string(), z.number()),
  /** SHA-256 of the other files: one of another save, or one that rotted, is told from what was saved. */
  digests: z.record(z.string(), z.string()),
})

/**
 * Writes a learner to a folder, all or nothing. Throws `not_finite` for weights or moments that are no numbers, which nobody could
 * take up again, `disk_full` and `output_io`.
 */
export async function writeEngineState(folder: string, state: EngineState): Promise<void> {
  refuseNotFinite(state)
  const files = new Map<string, Uint8Array>()
  files.set(checkpointFiles.model, jsonOf({ schema: 'quintain.model', v: 1, ...state.model }))
  files.set(checkpointFiles.weights, encodeSafetensors({ tensors: state.weights }))
  if (state.optimiser !== undefined) {
    files.set(checkpointFiles.optimiser, encodeSafetensors({ tensors: state.optimiser }))
  }
  const written: z.infer<typeof stateFile> = {
    schema: 'quintain.engine-state',
    v: 1,
    version: state.version,
    numbers: state.numbers,
    digests: Object.fromEntries([...files].map(([name, bytes]) => [name, sha256(bytes)])),
  }
  files.set(checkpointFiles.state, jsonOf(written))
  await replaceFolder(folder, async (draft) => {
    for (const [name, bytes] of files) await writeFile(join(draft, name), bytes)
  })
}

/** The shape of the policy of a checkpoint. Throws `checkpoint_invalid`. */
export async function readModelShape(folder: string): Promise<ModelShape> {
  const { kind, parameters, sizes } = await readJson(folder, checkpointFiles.model, modelFile)
  return { kind, parameters, sizes }
}

/**
 * What `writeEngineState` wrote. Throws `checkpoint_invalid` for a folder that is torn, of which a file is another's, whose
 * numbers are none, or, where `model` is given, that is of another shape; without an optimiser unless that is not wanted.
 */
export async function readEngineState(
  folder: string,
  { model: wanted, optimiser: wantsOptimiser = true }: { model?: ModelShape; optimiser?: boolean } = {},
): Promise<EngineState> {
  const { version, numbers, digests } = await readJson(folder, checkpointFiles.state, stateFile)
  const checked = async (file: string): Promise<Buffer> => {
    const bytes = await readPart(folder, file)
    if (sha256(bytes) === digests[file]) return bytes
    throw invalid(folder, `its ${file} is not what was saved with it`)
  }
  await checked(checkpointFiles.model)
  const model = await readModelShape(folder)
  if (wanted !== undefined) checkShape(folder, model, wanted)
  const tensorsOf = async (file: string): Promise<ReadonlyMap<string, Tensor>> => {
    const bytes = await checked(file)
    try {
      return finite(decodeSafetensors(bytes).tensors)
    } catch (cause) {
      throw invalid(folder, `its ${file} does not do: ${messageOf(cause)}`, cause)
    }
  }
  const weights = await tensorsOf(checkpointFiles.weights)
  if (!wantsOptimiser) return { model, version, numbers, weights }
  if (digests[checkpointFiles.optimiser] === undefined) {
    throw invalid(folder, 'it was written without an optimiser; its weights alone can be loaded')
  }
  return { model, version, numbers, weights, optimiser: await tensorsOf(checkpointFiles.optimiser) }
}

function checkShape(folder: string, model: ModelShape, wanted: ModelShape): void {
  if (model.kind !== wanted.kind) throw invalid(folder, `its policy is a ${model.kind}, not a ${wanted.kind}`)
  if (isDeepStrictEqual(model.sizes, wanted.sizes)) return
  const names = new Set([...Object.keys(model.sizes), ...Object.keys(wanted.sizes)])
  const differences = [...names]
    .filter((name) => model.sizes[name] !== wanted.sizes[name])
    .map((name) => `${name} ${model.sizes[name] ?? 'none'} and not ${wanted.sizes[name] ?? 'none'}`)
  throw invalid(folder, `its policy is of another shape: ${differences.join(', ')}`)
}

function refuseNotFinite({ weights, optimiser = new Map(), version }: EngineState): void {
  try {
    finite(weights)
    finite(optimiser)
  } catch (cause) {
    throw new QuintainError(
      'not_finite',
      `The policy has become no policy and was not written: ${messageOf(cause)}. What was written before is as it was; begin again from that, with a lower learning rate.`,
      { cause, facts: { version } },
    )
  }
}

function finite(tensors: ReadonlyMap<string, Tensor>): ReadonlyMap<string, Tensor> {
  for (const [name, { data }] of tensors) {
    const at = data.findIndex((number) => !Number.isFinite(number))
    if (at !== -1) throw new RangeError(`${name}[${at}] is ${data[at]}`)
  }
  return tensors
}

async function readJson<T>(folder: string, file: string, schema: z.ZodType<T>): Promise<T> {
  const bytes = await readPart(folder, file)
  try {
    return schema.parse(JSON.parse(bytes.toString('utf8')))
  } catch (cause) {
    throw invalid(folder, `its ${file} cannot be read: ${messageOf(cause)}`, cause)
  }
}

function jsonOf(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}
