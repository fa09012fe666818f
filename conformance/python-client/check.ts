// The Python client: its types, and its own tests, with a server that fails in every way and with the real one.
// `node conformance/python-client/check.ts`
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pythonEnvironment } from '../python/environment.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const client = join(root, 'python')
const say = (text: string) => process.stderr.write(`python-client: ${text}\n`)

const python = await pythonEnvironment(import.meta.dirname, say)
if ('unavailable' in python) {
  process.stdout.write(`python-client: skipped: ${python.unavailable}\n0 passed, 0 failed, 1 skipped\n`)
  process.exit(0)
}
const { interpreter } = python
// From the folder, as people install it; what it needs is there already.
await run(interpreter, [
  '-m',
  'pip',
  'install',
  '-q',
  '--no-deps',
  '--no-build-isolation',
  '--force-reinstall',
  client,
])

let passed = 0
let failed = 0
let skipped = 0

try {
  await run(interpreter, ['-m', 'mypy', '--strict', '--no-error-summary', 'src/quintain_client'], {
    cwd: client,
  })
  process.stdout.write('python-client: its types hold together: pass\n')
  passed++
} catch (thrown) {
  process.stdout.write(
    `python-client: its types hold together: fail\n${(thrown as { stdout: string }).stdout}`,
  )
  failed++
}

const quintain = join(root, 'packages/quintain/bin/quintain.js')
const env = { ...process.env, QUINTAIN_CWD: root, QUINTAIN_COMMAND: `${process.execPath} ${quintain}` }
const words = ['-W', 'error::ResourceWarning', '-m', 'unittest', 'discover', '-v', '-s', 'tests', '-t', '.']
const told = await run(interpreter, words, { cwd: client, env, timeout: 600_000, maxBuffer: 2 ** 26 }).then(
  ({ stderr }) => stderr,
  ({ stderr }: { stderr: string }) => stderr,
)
for (const [, name, result] of told.matchAll(
  /^(test_\w+) \(.*?\)(?: \.\.\.|\n.* \.\.\.) (ok|FAIL|ERROR|skipped.*)$/gm,
)) {
  process.stdout.write(
    `python-client: ${name!.slice(5).replaceAll('_', ' ')}: ${result === 'ok' ? 'pass' : result}\n`,
  )
  if (result === 'ok') passed++
  else if (result!.startsWith('skipped')) skipped++
  else failed++
}
const ran = Number(/^Ran (\d+) tests?/m.exec(told)?.[1] ?? 0)
if (failed > 0 || ran === 0 || ran !== passed - 1 + skipped) {
  process.stdout.write(told)
  failed = Math.max(failed, 1)
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exit(failed === 0 ? 0 : 1)
