// Cases of area `hub`: what a run records of what it ran, and environments that are not here.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluate, type Model, QuintainError, readManifest } from '../../packages/quintain/src/index.ts'
import type { Ops } from './runner/case.ts'

const model: Model = {
  id: 'openai-compatible:case',
  async generate() {
    return { message: { role: 'assistant', content: '4' }, finish: 'stop' }
  },
}

/** Writes an environment's package of a name and a version, as it would lie in `node_modules`. */
async function writePackage(folder: string, reference: string): Promise<string> {
  const at = reference.lastIndexOf('@')
  const [name, version] = at > 0 ? [reference.slice(0, at), reference.slice(at + 1)] : [reference, '1.0.0']
  const dir = join(folder, 'node_modules', `@${name.replace(/^@/, '')}`)
  await mkdir(dir, { recursive: true })
  const manifest = {
    name: `@${name.replace(/^@/, '')}`,
    version,
    type: 'module',
    main: 'index.js',
    quintain: { contract: 1 },
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

export const ops: Ops = {
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

  'hub.load': ({ id, installed }) =>
    inFolder(async (folder) => {
      const reference = String(id)
      const name = `@${reference.replace(/^@/, '').replace(/@[^@/]*$/, '')}`
      if (installed === true) await writePackage(folder, reference)
      try {
        await evaluate(name, {
          policy: 'script:noop',
          dir: join(folder, 'run'),
          cwd: folder,
          isolation: 'inline',
        })
        return { loaded: name }
      } catch (thrown) {
        if (!QuintainError.isInstance(thrown)) throw thrown
        const missing = thrown.code === 'environment_not_found'
        return { error: missing ? 'not_installed' : thrown.code, hint: thrown.message }
      }
    }),
}
