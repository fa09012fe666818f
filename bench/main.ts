/**
 * `npm run bench [-- NAME…] [--strict] [--json]`: runs all benches, or those named, and prints what they found. The exit code says
 * nothing of the aims unless `--strict` is given. Benches use two cores, on larger machines too.
 */
import { fork, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benches } from './benches.ts'
import { buildBenches } from './build.ts'
import { machineLines } from './machine.ts'
import { type Bench, type BenchResult, meets } from './measurement.ts'
import { reportLines } from './print.ts'

const cores = 2

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { strict: { type: 'boolean' }, json: { type: 'boolean' } },
})
const unknown = positionals.find((name) => !Object.hasOwn(benches, name))
if (unknown !== undefined) {
  process.stderr.write(`There is no bench "${unknown}"; there are ${Object.keys(benches).join(', ')}.\n`)
  process.exit(2)
}
if (availableParallelism() > cores) restartOnTwoCores()

const built = buildBenches()
const names = positionals.length > 0 ? positionals : Object.keys(benches)
const print = (lines: readonly string[]): void => {
  if (!values.json) process.stdout.write(`${lines.join('\n')}\n\n`)
}
print(machineLines())
const all: Record<string, BenchResult> = {}
let missed = 0
for (const name of names) {
  const { bench, result } = await runBench(name)
  all[name] = result
  missed += result.measurements.filter((measurement) => meets(measurement) === false).length
  print(reportLines(name, bench, result))
}
if (values.json)
  process.stdout.write(`${JSON.stringify({ machine: machineLines(), benches: all }, null, 2)}\n`)
const skipped = Object.values(all).filter((result) => result.skipped !== undefined).length
print([
  `${missed === 0 ? 'no aim missed' : `${missed} aims missed`}${skipped === 0 ? '' : `, ${skipped} benches skipped`}`,
])
process.exitCode = values.strict && missed > 0 ? 1 : 0

/** A process of its own for each bench, which measures the built packages. */
function runBench(name: string): Promise<{ bench: Pick<Bench, 'title' | 'about'>; result: BenchResult }> {
  return new Promise((resolve, reject) => {
    const child = fork(join(built, 'run-bench.js'), [name])
    let told: Awaited<ReturnType<typeof runBench>> | undefined
    child.on('message', (message) => {
      told = message as typeof told
    })
    child.on('error', reject)
    child.on('exit', (code) => {
      if (told !== undefined && code === 0) resolve(told)
      else reject(new Error(`bench ${name} failed (exit code ${code})`))
    })
  })
}

/** Everything that is started afterwards inherits the two cores. */
function restartOnTwoCores(): void {
  const args = ['-c', '0,1', process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const { status, error } = spawnSync('taskset', args, { stdio: 'inherit' })
  if (error === undefined) process.exit(status ?? 1)
  process.stderr.write(`taskset was not found; the benches use all ${availableParallelism()} cores.\n`)
}
