// Builds and packs what is published: `node scripts/pack.ts [FOLDER FOR THE TARBALLS]`, dist/npm when absent.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

type Json = Record<string, unknown>

/** Files that are started as processes or threads, or stand in a page, so that no import leads to them. */
const startedFiles = [
  'src/cli/main.ts',
  'src/engine/worker-main.ts',
  'src/sandbox/memory/thread-main.ts',
  'src/train/embedded/thread-main.ts',
  'src/report/html/client/main.ts',
]

/** What a published package carries beside what is built. */
const carried = ['bin', 'docs', 'schemas', 'template', 'training', 'README.md', 'LICENSE', 'CHANGELOG.md']

export interface Packed {
  name: string
  version: string
  /** The folder that was packed, and the tarball. */
  staged: string
  tarball: string
}

/**
 * Builds `packages/quintain` and every environment under `root` into `dist/npm/…` (JavaScript and declarations, no
 * tests) and packs each into a tarball in `target`. The packages of the repository stay as they are: they run from
 * source, and `packages/quintain` stays private so that nobody publishes it in that form.
 *
 * Throws with the compiler's or npm's words when one of them refuses.
 */
export function packAll({ root, target }: { root: string; target: string }): Packed[] {
  mkdirSync(target, { recursive: true })
  const library = pack({ root, folder: 'packages/quintain', target })
  const environments = readdirSync(join(root, 'environments'))
    .filter((name) => existsSync(join(root, 'environments', name, 'package.json')))
    .map((name) => pack({ root, folder: `environments/${name}`, target, library: library.staged }))
  return [library, ...environments]
}

function pack(options: { root: string; folder: string; target: string; library?: string }): Packed {
  const { folder, target } = options
  const staged = stage(options)
  const printed = run('npm', ['pack', '--json', '--pack-destination', target], staged)
  const [{ filename, name, version }] = JSON.parse(printed) as [
    { filename: string; name: string; version: string },
  ]
  const tarball = join(target, filename)
  if (!existsSync(tarball)) throw new Error(`npm pack of ${folder} made no ${tarball}`)
  return { name, version, staged, tarball }
}

function stage({ root, folder, library }: { root: string; folder: string; library?: string }): string {
  const source = join(root, folder)
  const staged = join(root, 'dist', 'npm', basename(folder))
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(staged, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Json
  compile({
    root,
    source,
    staged,
    entries: entriesOf(manifest, source),
    ...(library === undefined ? {} : { library }),
  })
  // What is built already lies beside the code that reads it.
  for (const file of globSync('**/*.wasm', { cwd: join(source, 'src') })) {
    cpSync(join(source, 'src', file), join(staged, 'dist', file))
  }
  for (const name of carried) {
    const own = join(source, name)
    // Templates carry their sources; what made the files of a training does not go with them.
    const filter = (path: string) => name !== 'training' || !path.endsWith('.ts')
    if (existsSync(own)) cpSync(own, join(staged, name), { recursive: true, filter })
  }
  for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md']) {
    const shared = join(root, name)
    const wanted = name === 'LICENSE' || library === undefined
    if (wanted && existsSync(shared) && !existsSync(join(staged, name))) cpSync(shared, join(staged, name))
  }
  // The manual travels with the library, so that what reads the package finds it there.
  const manual = join(root, 'docs')
  if (library === undefined && existsSync(manual)) {
    for (const page of globSync('**/*.md', { cwd: manual, exclude: ['decisions'] })) {
      cpSync(join(manual, page), join(staged, 'docs', page))
    }
  }
  writeFileSync(
    join(staged, 'package.json'),
    `${JSON.stringify(publishedManifest(manifest, staged), null, 2)}\n`,
  )
  return staged
}

/** Source files from which everything that is published is reached. */
function entriesOf(manifest: Json, source: string): string[] {
  const targets = Object.values((manifest['exports'] ?? {}) as Json).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target as Record<string, string>),
  )
  const entries = targets
    .map((target) => target.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts'))
    .filter((target) => target.startsWith('./src/') && target.endsWith('.ts'))
  const started = startedFiles.filter((file) => existsSync(join(source, file)))
  return [...new Set([...entries.map((entry) => entry.slice(2)), ...started])].map((entry) =>
    join(source, entry),
  )
}

function compile(options: {
  root: string
  source: string
  staged: string
  entries: string[]
  library?: string
}): void {
  const { root, source, staged, entries, library } = options
  const missing = entries.filter((entry) => !existsSync(entry))
  if (missing.length > 0) throw new Error(`package.json exports what is not there: ${missing.join(', ')}`)
  const config = `${staged}.tsconfig.json`
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rootDir: join(source, 'src'),
        outDir: join(staged, 'dist'),
        // An environment is built against the declarations that its users will have, not against the source.
        ...(library === undefined
          ? {}
          : {
              paths: {
                quintain: [join(library, 'dist/index.d.ts')],
                'quintain/*': [join(library, 'dist/*/index.d.ts')],
              },
            }),
      },
      files: entries,
    }),
  )
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], root)
  rmSync(config)
  // The compiler rewrites `./x.ts` in JavaScript and leaves it in declarations, where older compilers stumble over it.
  for (const file of globSync('dist/**/*.d.ts', { cwd: staged })) {
    const path = join(staged, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(relativeSource, '$1$2$3.js$2'))
  }
}

const relativeSource = /(\bfrom |\bimport ?\(?)(["'])(\.{1,2}\/[^"']+)\.ts\2/g

/** The manifest of a package as it is published: built files instead of sources, nothing for development. */
export function publishedManifest(manifest: Json, staged: string): Json {
  const { private: _private, devDependencies: _dev, scripts: _scripts, ...published } = manifest
  const exported = Object.entries((manifest['exports'] ?? {}) as Json).map(([path, target]) => {
    const built = typeof target === 'string' && /^\.\/src\/(.*)\.ts$/.exec(target)?.[1]
    return [path, built ? { types: `./dist/${built}.d.ts`, default: `./dist/${built}.js` } : target]
  })
  const { source: _source, ...quintain } = (manifest['quintain'] ?? {}) as Json
  const carriedHere = carried.filter((name) => existsSync(join(staged, name)))
  return {
    ...published,
    exports: Object.fromEntries(exported) as Json,
    ...(manifest['quintain'] === undefined ? {} : { quintain }),
    files: ['dist', ...carriedHere],
  }
}

function run(command: string, args: string[], cwd: string): string {
  // npm is a command file on Windows, which only a shell starts.
  const shell = command === 'npm' && process.platform === 'win32'
  const result = spawnSync(command, args, { cwd, encoding: 'utf8', shell, maxBuffer: 64 * 1024 * 1024 })
  if (result.status !== 0) {
    const said = [result.error?.message, result.stdout, result.stderr].filter(Boolean).join('\n')
    throw new Error(`${command} ${args.join(' ')} failed:\n${said}`)
  }
  return result.stdout
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(import.meta.dirname, '..')
  const target = resolve(process.argv[2] ?? join(root, 'dist', 'npm'))
  for (const { name, version, tarball } of packAll({ root, target })) {
    process.stdout.write(`${name}@${version}  ${tarball}\n`)
  }
}
