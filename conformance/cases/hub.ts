// Cases of area `hub`: what a run records of what it ran, and environments that are not here.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contractVersion } from '../../packages/quintain/src/core/index.ts'
import { evaluate, type Model, QuintainError, readManifest } from '../../packages/quintain/src/index.ts'
import { compareRuns } from '../../packages/quintain/src/report/compare.ts'
import { writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import type { Ops } from './runner/case.ts'

const model: Model = {
  id: 'openai-compatible:case',
  async generate() {
    return { message: { role: 'assistant', content: '4' }, finish: 'stop' }
  },
}

/** Writes an environment's package of a name and a version, as it would lie in `node_modules`. */
async function writePackage(folder: string, reference: string, contract = 1): Promise<string> {
  const at = reference.lastIndexOf('@')
  const [name, version] = at > 0 ? [reference.slice(0, at), reference.slice(at + 1)] : [reference, '1.0.0']
  const dir = join(folder, 'node_modules', `@${name.replace(/^@/, '')}`)
  await mkdir(dir, { recursive: true })
  const manifest = {
    name: `@${name.replace(/^@/, '')}`,
    version,
    type: 'module',
    main: 'index.js',
    quintain: { contract },
  }
  await writeFile(join(dir, 'package.json'), JSON.stringify(manifest))
  const front = new URL('../../packages/quintain/src/index.ts', import.meta.url).href
  const source = `import { environment } from ${JSON.stringify(front)}
export default environment({
  tasks: [{ id: 'sum', prompt: '2 + 2 = ?', secret: { answer: '4' } }],
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
})
`
  await writeFile(join(dir, 'index.js'), source)
  return dir
}

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  try {
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * The contract for which a package is written, where this Quintain speaks contract 1: as many versions later as the
 * first number of the one is above that of the other. A range names its lower end first.
 */
function contractOf({ package_api: asked, runtime_api: spoken }: Record<string, unknown>): number {
  const major = (text: unknown) => Number(/\d+/.exec(String(text ?? 1))?.[0] ?? 1)
  return Math.max(1, contractVersion + major(asked) - major(spoken))
}

/** Names that cases have for settings. */
const settingNames: Record<string, string> = { max_tokens: 'maxTokens', top_p: 'topP' }

/** What a comparison says is different between runs of these settings. */
async function reportedDifferences(settings: readonly unknown[]): Promise<string[]> {
  return inFolder(async (folder) => {
    const dirs = await Promise.all(
      settings.map(async (given, nth) => {
        const { model: policy = 'model', ...sampling } = given as Record<string, unknown>
        const named = Object.entries(sampling).map(([name, value]) => [settingNames[name] ?? name, value])
        const agent = { policy: String(policy), harness: 'auto', sampling: Object.fromEntries(named) }
        const dir = join(folder, `run-${nth}`)
        await writeSampleRun(dir, {
          orders: [{ task: 'sum', attempts: [{ reward: 1 }] }],
          manifest: { seats: { agent } },
        })
        return dir
      }),
    )
    const { plan } = await compareRuns(dirs)
    const back = new Map(Object.entries(settingNames).map(([name, ours]) => [ours, name]))
    return plan.map(({ field }) => {
      const name = field.replace(/^sampling /, '')
      return back.get(name) ?? (name === 'policy' ? 'model' : name)
    })
  })
}

export const ops: Ops = {
  'run.diff': async ({ a, b }) => ({ reported: await reportedDifferences([a, b]) }),

  'run.metadata': ({ env }) =>
    inFolder(async (folder) => {
      const package_ = await writePackage(folder, String(env))
      const dir = join(folder, 'run')
      await evaluate(package_, { model, dir, sampling: { temperature: 0.5, seed: 1 }, isolation: 'inline' })
      const { environment, quintain, seats, seed } = await readManifest(dir)
      const said = {
        env_name: environment.name,
        env_version: environment.version,
        env_digest: environment.digest,
        sdk_version: quintain,
        model: seats['agent']?.policy,
        sampling: seats['agent']?.sampling,
        seed,
        options: environment.options,
      }
      const present = ([, value]: [string, unknown]) => value !== undefined && value !== ''
      return Object.entries(said)
        .filter(present)
        .map(([name]) => name)
    }),

  'hub.load': (input) =>
    inFolder(async (folder) => {
      const reference = String(input['id'])
      const name = `@${reference.replace(/^@/, '').replace(/@[^@/]*$/, '')}`
      const contract = contractOf(input)
      const isThere = input['installed'] === true || input['package_api'] !== undefined
      if (isThere) await writePackage(folder, reference, contract)
      try {
        await evaluate(name, {
          policy: 'script:noop',
          dir: join(folder, 'run'),
          cwd: folder,
          isolation: 'inline',
        })
        return { loaded: true, name }
      } catch (thrown) {
        if (!QuintainError.isInstance(thrown)) throw thrown
        const missing = thrown.code === 'environment_not_found'
        const versions: [unknown, number][] = [
          [input['package_api'], contract],
          [input['runtime_api'], contractVersion],
        ]
        return {
          loaded: false,
          error: missing ? 'not_installed' : thrown.code,
          hint: thrown.message,
          message_names: versions
            .filter(([, number]) => new RegExp(`\\b${number}\\b`).test(thrown.message))
            .map(([version]) => version),
        }
      }
    }),
}
