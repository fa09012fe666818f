import { existsSync } from 'node:fs'
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { framedDigest, sha256 } from '../core/canonical.ts'
import { messageOf, QuintainError } from '../core/errors.ts'
import { chatRenderer, rendererDescription } from './chat-renderer.ts'
import type { Learner } from './engine.ts'
import type { Renderer } from './renderer.ts'
import { folderAsWritten, replaceFolder } from './replace-folder.ts'

/** Files of a checkpoint. Those of the learner are written by its `save`; the embedded one's are the first four. */
export const checkpointFiles = {
  weights: 'weights.safetensors',
  optimiser: 'optimiser.safetensors',
  model: 'model.json',
  state: 'state.json',
  renderer: 'renderer.json',
  /** How it was made; nothing reads it but people. */
  made: 'made.json',
} as const

/** What `state.json` says of the files beside it; an engine of its own may write none. */
const digestsFile = z.looseObject({ digests: z.record(z.string(), z.string()) })

/**
 * Writes a policy to a folder: the learner's own files, the renderer that speaks for it, and how it was made. All or
 * nothing: what was there before stays until all is on the disk. The digest of the renderer stands with the others in
 * `state.json`, so that the ids of one policy are never read by the vocabulary of another. Throws `disk_full` and `output_io`.
 */
export async function writeCheckpoint(
  folder: string,
  { learner, renderer, made }: { learner: Pick<Learner, 'save'>; renderer: Renderer; made?: object },
): Promise<void> {
  await replaceFolder(folder, async (draft) => {
    await learner.save(draft)
    const write = (file: string, text: string) => writeFile(join(draft, file), text)
    const described = jsonText(renderer.describe())
    await write(checkpointFiles.renderer, described)
    if (made !== undefined) await write(checkpointFiles.made, jsonText(made))
    const state = await readState(draft)
    if (state === undefined) return
    const digests = { ...state.digests, [checkpointFiles.renderer]: sha256(described) }
    await write(checkpointFiles.state, jsonText({ ...state, digests }))
  })
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** What `state.json` says; undefined where the engine wrote none. Throws `checkpoint_invalid`. */
async function readState(folder: string): Promise<z.infer<typeof digestsFile> | undefined> {
  if (!existsSync(join(await folderAsWritten(folder), checkpointFiles.state))) return undefined
  const text = await readPart(folder, checkpointFiles.state)
  try {
    return digestsFile.parse(JSON.parse(text.toString('utf8')))
  } catch (cause) {
    throw invalid(folder, `its ${checkpointFiles.state} cannot be read: ${messageOf(cause)}`, cause)
  }
}

/**
 * The renderer of a checkpoint. Throws `checkpoint_invalid` for one that is none, and for one that was not saved with the
 * weights beside it (a checkpoint that does not say which was is believed).
 */
export async function readRenderer(folder: string): Promise<Renderer> {
  const text = await readPart(folder, checkpointFiles.renderer)
  const saved = (await readState(folder))?.digests[checkpointFiles.renderer]
  if (saved !== undefined && saved !== sha256(text))
    throw invalid(folder, `its ${checkpointFiles.renderer} is not what was saved with it`)
  try {
    return chatRenderer(rendererDescription.parse(JSON.parse(text.toString('utf8'))))
  } catch (cause) {
    throw invalid(folder, `its ${checkpointFiles.renderer} describes no renderer: ${messageOf(cause)}`, cause)
  }
}

/**
 * What a checkpoint is, as 64 hex digits: that of its weights, their shape and its renderer. What only training needs is
 * not counted, so a policy that was exported without its optimiser is the same. Throws `checkpoint_invalid`.
 */
export async function checkpointDigest(folder: string): Promise<string> {
  const { weights, model, renderer } = checkpointFiles
  const parts = [model, renderer, weights].map((file) => readPart(folder, file))
  return framedDigest(await Promise.all(parts))
}

/** Bytes of a file of a checkpoint: several times those of the largest policy with its optimiser. */
const mostBytes = 2 ** 29

/**
 * A file of a checkpoint. Throws `checkpoint_invalid` where it cannot be read, and for what is no file of the folder: a
 * checkpoint may come from anywhere, and a link in it leads to whatever whoever made it likes to have read.
 */
export async function readPart(folder: string, file: string): Promise<Buffer> {
  const path = join(await folderAsWritten(folder), file)
  try {
    const found = await lstat(path)
    if (!found.isFile()) throw new TypeError('it is a link, a folder or a device')
    if (found.size > mostBytes) throw new RangeError(`it has ${found.size} bytes, and may have ${mostBytes}`)
    return await readFile(path)
  } catch (cause) {
    throw invalid(folder, `its ${file} cannot be read: ${messageOf(cause)}`, cause)
  }
}

/** Names a folder of which no policy can be made. */
export function invalid(folder: string, what: string, cause?: unknown): QuintainError {
  return new QuintainError(
    'checkpoint_invalid',
    `${folder} is no checkpoint that can be taken up: ${what}. Nothing was changed; name another checkpoint.`,
    { cause, facts: { folder, what } },
  )
}
