import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { countText, formatTable, printableLine, styleFor } from '../report/index.ts'
import { checkpointDigest, checkpointFiles, readRenderer } from '../train/checkpoint.ts'
import { readModelShape } from '../train/engine-state.ts'
import type { CliIo } from './io.ts'

/** What is told of how a checkpoint was made; whatever else is there is left out. */
const made = z
  .looseObject({
    by: z.string().exactOptional(),
    sources: z.array(z.looseObject({ path: z.string() })).exactOptional(),
    examples: z.looseObject({ learned: z.number() }).exactOptional(),
    steps: z.number().exactOptional(),
  })
  .partial()

/** Whether a folder is a checkpoint and no run. */
export function isCheckpoint(dir: string): Promise<boolean> {
  return stat(join(dir, checkpointFiles.model)).then(
    (found) => found.isFile(),
    () => false,
  )
}

/** Says what a checkpoint is, for who takes it for a run. `name` is its folder as a person here would type it. */
export async function checkpointReport(
  { dir, name }: { dir: string; name: string },
  { json = false }: { json?: boolean },
  io: CliIo,
): Promise<void> {
  const [model, digest, renderer, how] = await Promise.all([
    readModelShape(dir),
    checkpointDigest(dir),
    readRenderer(dir),
    madeOf(dir),
  ])
  const facts = { checkpoint: name, digest, model, vocabulary: renderer.vocabulary, made: how ?? null }
  if (json) {
    io.stdout.write(`${JSON.stringify(facts, null, 2)}\n`)
    return
  }
  const shown = printableLine(name, 200)
  const sizes = Object.entries(model.sizes).map(([size, value]) => `${size} ${countText(value)}`)
  const told = made.safeParse(how).data ?? {}
  const sources = (told.sources ?? []).map(({ path }) => path)
  const learned = told.examples === undefined ? '' : `${countText(told.examples.learned)} examples`
  const rows = [
    ['model', `${countText(model.parameters)} parameters (${sizes.join(', ')})`],
    ['weights', digest.slice(0, 12)],
    ...(told.by === undefined
      ? []
      : [['made from', [told.by, learned, sources.join(', ')].filter((part) => part !== '').join(', ')]]),
    ...(told.steps === undefined ? [] : [['steps', countText(told.steps)]]),
  ].map((row) => row.map((cell) => printableLine(cell, 300)))
  const style = styleFor(io.stdout, io.env)
  io.stdout.write(
    `${style.bold(`${shown} is a checkpoint: the weights of a policy, and no run`)}\n${formatTable(['', ''], rows, style)}\n`,
  )
  io.stdout.write(
    `Measure it: npx quintain eval ENV -m checkpoint:${shown}. Serve it: npx quintain serve-model ${shown}.\n`,
  )
}

/** `made.json` of a checkpoint; undefined where it has none. */
async function madeOf(dir: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(dir, checkpointFiles.made), 'utf8'))
  } catch {
    return undefined
  }
}
