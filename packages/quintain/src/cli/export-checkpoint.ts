import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { countText, printableLine } from '../report/index.ts'
import { readRenderer, writeCheckpoint } from '../train/checkpoint.ts'
import { readEngineState, writeEngineState } from '../train/engine-state.ts'
import { checkpointIn } from '../train/open-policy.ts'
import type { CliIo } from './io.ts'

/**
 * Writes the policy of a checkpoint, or of a training, to a folder: weights as safetensors, their shape, the renderer;
 * without what only training needs. Throws `usage`, `output_exists`, `checkpoint_invalid`, `disk_full`, `output_io`.
 */
export async function exportCheckpointCommand(
  checkpoint: string,
  { out }: { out?: string },
  io: CliIo,
): Promise<void> {
  if (out === undefined) throw new QuintainError('usage', 'Say where the policy goes: --out FOLDER.')
  const target = resolve(io.cwd, out)
  if ((await stat(target).catch(() => undefined)) !== undefined)
    throw new QuintainError('output_exists', `${printableLine(out)} is there already. Name another folder.`, {
      facts: { out },
    })
  const folder = await checkpointIn(resolve(io.cwd, checkpoint))
  const state = await readEngineState(folder, { optimiser: false })
  const renderer = await readRenderer(folder)
  await writeCheckpoint(target, { learner: { save: (draft) => writeEngineState(draft, state) }, renderer })
  io.stdout.write(
    `${printableLine(out)}: ${countText(state.model.parameters)} parameters in weights.safetensors, their shape in model.json, vocabulary and template in renderer.json.\n`,
  )
}
