import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DoorExport, ExportDoorOptions } from '../../serve/export-door.ts'
import { defaultSplit } from '../choice.ts'
import { reservedNames } from '../instance.ts'
import { generateClient, pythonNames } from './generate-client.ts'

/** Writes a Python package by which trainers play an environment that is served by OpenEnv; see `generateClient`. */
export async function exportOpenEnv(options: ExportDoorOptions): Promise<DoorExport> {
  const { core, reference, serveArguments = [], out, url } = options
  const split = defaultSplit(core)
  const first = { split, index: 0 }
  const { tools } = await core.preview(first, { answerTool: true, reserved: reservedNames })
  const { environment } = core
  const where = (url ?? 'http://127.0.0.1:8000').replace(/\/+$/, '')
  const served = [reference, ...serveArguments]
  const files = generateClient({ environment, tools, url: where, served, split })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(out, name)), { recursive: true })
    await writeFile(join(out, name), text)
  }
  const { module, prefix } = pythonNames(environment)
  const notes = [
    `The package is ${module}; ${prefix}Env is its client, ${prefix}Environment is for TRL.`,
    ...(url === undefined
      ? [`Start its server with: quintain serve ${served.join(' ')} --door openenv --port 8000`]
      : []),
    ...(environment.needs.includes('tools')
      ? ['Its methods are the tools of the first task; export again when tools change.']
      : []),
  ]
  return { files: Object.keys(files), notes }
}
