import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { DoorExport, ExportDoorOptions } from '../serve/export-door.ts'
import type { ServedSplit, SessionCore } from '../session/session.ts'
import { configText, type RowFile } from './config-text.ts'
import { nemoGymDoor } from './door.ts'
import { launcherText } from './launcher.ts'
import { type NemoAgent, nemoRows } from './rows.ts'
import { verifiersToml } from './verifiers-toml.ts'

/** Rows of the example that NeMo Gym wants of each environment. */
const exampleRows = 5

/**
 * Writes what NeMo Gym needs of an environment, as one of its folders: the rows of each split, the configuration, and the
 * program by which it starts the server. Verifiers and prime-rl need the rows alone. Nothing in it is secret.
 */
export async function exportNemoGym({ core, reference, out, url }: ExportDoorOptions): Promise<DoorExport> {
  const { slug, needs } = core.environment
  const folder = `resources_servers/${slug}`
  const agents: NemoAgent[] = needs.includes('turns') ? ['simple', 'gymnasium'] : ['simple']
  const files: RowFile[] = []
  for (const agent of agents) {
    const suffix = agent === 'simple' ? '' : `-${agent}`
    for (const split of core.splits) {
      const path = `${folder}/data/${fileName(split.name)}${suffix}.jsonl`
      await writeRows(core, split.name, { path: join(out, path), agent })
      files.push({ name: `${slug}-${split.name}${suffix}`, type: typeOf(split), agent, path })
    }
    const first = core.splits[0]
    if (first === undefined) continue
    const path = `${folder}/data/example${suffix}.jsonl`
    await writeRows(core, first.name, { path: join(out, path), agent, most: exampleRows })
    files.push({ name: `${slug}-example${suffix}`, type: 'example', agent, path })
  }
  const texts: Record<string, string> = {
    [`${folder}/app.py`]: launcherText({
      reference,
      folder: relative(join(out, folder), process.cwd()).split(sep).join('/'),
    }),
    [`${folder}/requirements.txt`]: 'pyyaml\n',
    [`${folder}/configs/${slug}.yaml`]: configText(core.environment, { files, agents }),
  }
  const trained = files.find(({ type }) => type === 'train') ?? files[0]
  if (trained !== undefined)
    texts['verifiers.toml'] = verifiersToml({ rows: trained.path, url: url ?? 'http://127.0.0.1:8000' })
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(out, path)), { recursive: true })
    await writeFile(join(out, path), text)
  }
  return {
    files: [...files.map(({ path }) => path), ...Object.keys(texts)],
    notes: [
      `NeMo Gym finds it with NEMO_GYM_EXTRA_ROOTS set to this folder, and ${folder}/configs/${slug}.yaml among its config paths.`,
      `verifiers plays it in this folder with: eval @ verifiers.toml --model MODEL${
        url === undefined
          ? `, once it is served by: quintain serve ${reference} --door nemo-gym --port 8000`
          : ''
      }`,
      ...nemoGymDoor.losses(core.environment).map(({ says }) => says),
    ],
  }
}

async function writeRows(
  core: SessionCore,
  split: string,
  { path, agent, most = Number.POSITIVE_INFINITY }: { path: string; agent: NemoAgent; most?: number },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'w')
  try {
    let count = 0
    for await (const row of nemoRows(core, split, { agent })) {
      if (count++ >= most) break
      await file.write(`${JSON.stringify(row)}\n`)
    }
  } finally {
    await file.close()
  }
}

/** NeMo Gym validates with what others test with. */
function typeOf({ type }: ServedSplit): RowFile['type'] {
  return type === 'train' ? 'train' : 'validation'
}

/** A split may be called anything that an author liked; `example` is a file of ours. */
function fileName(split: string): string {
  const name = split.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_')
  return name === 'example' ? 'example_split' : name
}
