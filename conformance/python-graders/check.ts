// node conformance/python-graders/check.ts   Python graders run through `pythonIn` with the packages of the hosted image, and
// directly in the same environment: the same values. Says the time of a call. Skipped aloud where there are no boxes with
// walls, no Python or no package index.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { gradingSandbox } from '../../packages/quintain/src/engine/index.ts'
import { bwrapDriver } from '../../packages/quintain/src/sandbox/index.ts'
import { pythonIn } from '../../packages/quintain/src/scoring/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { item, outputs, sources } from './sources.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const run = promisify(execFile)
const total = Object.keys(sources).length

function skip(why: string): never {
  process.stdout.write(
    `SKIPPED: Python graders are not compared: ${why}\n0 passed, 0 failed, ${total} skipped\n`,
  )
  process.exit(0)
}

/** What the interpreter itself gives, a process for each source. */
async function directly(interpreter: string, source: string): Promise<number[]> {
  const code = `import json, sys
source, outputs, item = json.loads(sys.argv[1])
names = {}
exec(source, names)
print(json.dumps([float(names['grade']({'output_text': text}, item)) for text in outputs]))`
  const { stdout } = await run(interpreter, ['-I', '-c', code, JSON.stringify([source, outputs, item])])
  return z.array(z.number()).parse(JSON.parse(stdout))
}

const driver = bwrapDriver()
const available = await driver.available()
if (!available.available) skip(available.reason)
const environment = await pythonEnvironment(folder, (line) => process.stdout.write(`${line}\n`), {
  // Boxes see the system's Python; one in a home folder they may not read.
  python: existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3',
})
if ('unavailable' in environment) skip(environment.unavailable)
const open = gradingSandbox(driver, { python: environment.interpreter })
const python = pythonIn(open.sandbox)
const counts = { passed: 0, failed: 0 }
process.stdout.write('| source | packages | first call | later, median |\n|---|---|--:|--:|\n')
for (const [name, source] of Object.entries(sources)) {
  const right = await directly(environment.interpreter, source)
  const ms: number[] = []
  let packages = ''
  let same = true
  for (const [at, text] of outputs.entries()) {
    const result = await python(source, { sample: { output_text: text }, item })
    ms.push(result.ms)
    same &&= result.ok && Object.is(result.value, right[at]) && result.runtime.unlike.length === 0
    if (!same) process.stderr.write(`${name}: ${JSON.stringify(result)}, right is ${right[at]}\n`)
    if (result.ok) packages = Object.entries(result.runtime.packages).flat().join(' ')
    // As between the answers of a run: the next box comes up meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 1500))
  }
  counts[same ? 'passed' : 'failed']++
  const [first = 0, ...later] = ms
  const median = later.toSorted((a, b) => a - b)[Math.floor(later.length / 2)] ?? 0
  process.stdout.write(
    `| ${name}${same ? '' : ' FAILED'} | ${packages} | ${first.toFixed(0)} ms | ${median.toFixed(0)} ms |\n`,
  )
}
await open.close()
await driver.close?.()
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, 0 skipped\n`)
process.exitCode = counts.failed > 0 ? 1 : 0
