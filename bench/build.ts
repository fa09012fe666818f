import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packAll } from '../scripts/pack.ts'

const root = join(import.meta.dirname, '..')
const built = join(root, 'dist', 'bench')
/** Files that are started as processes, so that no import leads to them. */
const startedFiles = [
  'packages/quintain/src/models/fake-server-main.ts',
  'packages/quintain/src/engine/worker-main.ts',
  'packages/quintain/src/sandbox/memory/thread-main.ts',
]
const peer = 'conformance/verifiers'

/**
 * Builds what users get, and the benches beside it, as JavaScript: what is measured is the published form, and no
 * stripping of types in five processes at a time. Gives the folder of the built benches.
 *
 * Throws with the compiler's words when something does not compile.
 */
export function buildBenches(): string {
  const npm = join(root, 'dist', 'npm')
  rmSync(built, { recursive: true, force: true })
  const packages = packAll({ root, target: npm })
  const library = packages[0]!.staged
  compileBenches(library)
  for (const modules of [join(npm, 'node_modules'), join(built, 'node_modules')]) {
    link(library, join(modules, 'quintain'))
  }
  for (const { name, staged } of packages.slice(1)) link(staged, join(built, 'node_modules', name))

  const manifest = readFileSync(join(root, 'bench/single-turn/package.json'), 'utf8')
  writeFileSync(join(built, 'bench/single-turn/package.json'), manifest.replaceAll('.ts"', '.js"'))
  for (const file of [
    'packages/quintain/package.json',
    `${peer}/bench_single_turn.py`,
    `${peer}/requirements.txt`,
  ])
    cpSync(join(root, file), join(built, file))
  if (existsSync(join(root, peer, '.venv'))) link(join(root, peer, '.venv'), join(built, peer, '.venv'))
  return join(built, 'bench')
}

function compileBenches(library: string): void {
  const config = join(root, 'dist', 'bench.tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        noEmit: false,
        rootDir: root,
        outDir: built,
        // Against declarations: what is reached through the package is not written out beside the benches.
        paths: {
          quintain: [join(library, 'dist/index.d.ts')],
          'quintain/*': [join(library, 'dist/*/index.d.ts')],
        },
      },
      include: ['bench', ...startedFiles].map((path) => join(root, path)),
    }),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', config], {
    encoding: 'utf8',
  })
  rmSync(config)
  if (status !== 0) throw new Error(`the benches do not compile:\n${stdout}${stderr}`)
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { recursive: true, force: true })
  symlinkSync(target, path, 'junction')
}
