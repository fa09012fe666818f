import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { DoorExport, ExportDoorOptions } from '../serve/export-door.ts'
import { hudDoor } from './door.ts'
import { hudRows } from './rows.ts'

/** HUD's own port. */
const defaultPort = 8765

/**
 * Writes `tasks.jsonl`, a portable taskset: every task of every split by its id. What a task says, public or secret, stays
 * with the server.
 */
export async function exportHud({ core, reference, out, url }: ExportDoorOptions): Promise<DoorExport> {
  const file = await open(join(out, 'tasks.jsonl'), 'w')
  try {
    for (const { name } of core.splits) {
      let text = ''
      for await (const row of hudRows(core, name)) {
        text += `${JSON.stringify(row)}\n`
        if (text.length > 2 ** 16) {
          await file.write(text)
          text = ''
        }
      }
      await file.write(text)
    }
  } finally {
    await file.close()
  }
  const [first] = core.splits
  const at = url ?? `tcp://127.0.0.1:${defaultPort}`
  return {
    files: ['tasks.jsonl'],
    notes: [
      ...(url === undefined
        ? [`Start the server: quintain serve ${reference} --door hud --port ${defaultPort}`]
        : []),
      `Run it: hud eval tasks.jsonl AGENT --runtime ${at} --task-ids ${first?.name ?? 'SPLIT'} (all tasks of a split; without --task-ids or --all, only the first).`,
      ...hudDoor.losses(core.environment).map(({ says }) => says),
    ],
  }
}
