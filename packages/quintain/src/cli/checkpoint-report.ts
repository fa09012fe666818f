import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { countText, formatTable, plural, printableLine, styleFor } from '../report/index.ts'
import { checkpointFiles } from '../train/checkpoint.ts'
import { openPolicy } from '../train/open-policy.ts'
import type { CliIo } from './io.ts'

/** What is told of how a checkpoint was made; whatever else is there is left out. */
const made = z
  .looseObject({
    by: z.string().exactOptional(),
    from: z.looseObject({ path: z.string(), digest: z.string() }).nullable().exactOptional(),
    sources: z.array(z.looseObject({ path: z.string() })).exactOptional(),
    examples: z.looseObject({ learned: z.number() }).exactOptional(),
    end: z.looseObject({ steps: z.number() }).exactOptional(),
  })
  .partial()

/** Whether a folder is a checkpoint and no run. */
export function isCheckpoint(dir: string): Promise<boolean> {
  return stat(join(dir, checkpointFiles.model)).then(
    (found) => found.isFile(),
    () => false,
  )
}

/**
 * Says what a checkpoint is, for who takes it for a run. `name` is its folder as a person here would type it. Throws
 * `checkpoint_invalid` for one that cannot be taken up.
 */
export async function checkpointReport(
  { dir, name }: { dir: string; name: string },
  { json = false }: { json?: boolean },
  io: CliIo,
): Promise<void> {
  const how = await madeOf(dir)
  const { learner, digest, renderer, close } = await openPolicy(dir, { threads: 1 })
  const { model } = learner
  await close()
  const facts = { checkpoint: name, digest, model, vocabulary: renderer.vocabulary, made: how ?? null }
  if (json) {
    io.stdout.write(`${JSON.stringify(facts, null, 2)}\n`)
    return
  }
  const shown = printableLine(name, 200)
  const sizes = Object.entries(model.sizes).map(([size, value]) => `${size} ${countText(value)}`)
  const told = made.safeParse(how).data ?? {}
  const sources = (told.sources ?? []).map(({ path }) => path)
  const learned = told.examples === undefined ? '' : plural(told.examples.learned, 'example')
  const rows = [
    ['model', `${countText(model.parameters)} parameters (${sizes.join(', ')})`],
    ['weights', digest.slice(0, 12)],
    ...(told.by === undefined
      ? []
      : [['made from', [told.by, learned, sources.join(', ')].filter((part) => part !== '').join(', ')]]),
    ...(told.from == null
      ? []
      : [['began from', `${told.from.path} (weights ${told.from.digest.slice(0, 12)})`]]),
    ...(told.end === undefined ? [] : [['steps', countText(told.end.steps)]]),
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
