// node conformance/stats/validate.ts   Compares every estimator of `quintain/stats` with SciPy, statsmodels or a plain
// formula on random inputs, and prints the largest errors. Skipped aloud where there is no Python or no package index.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { pythonEnvironment } from '../python/environment.ts'
import { checks } from './checks.ts'
import { RandomInputs } from './random-inputs.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const reply = z.object({ answers: z.array(z.unknown()), versions: z.record(z.string(), z.string()) })

/** The error of a value, or the largest of several: absolute below one unless `relative`, relative above. Infinity where they are not alike. */
function errorOf(ours: unknown, right: unknown, relative: boolean): number {
  if (Array.isArray(ours) && Array.isArray(right) && ours.length === right.length) {
    return Math.max(0, ...ours.map((value, i) => errorOf(value, right[i], relative)))
  }
  if (typeof ours !== 'number' || typeof right !== 'number') return Number.POSITIVE_INFINITY
  if (ours === right) return 0
  const error = Math.abs(ours - right) / (relative ? Math.abs(right) : Math.max(1, Math.abs(right)))
  return Number.isNaN(error) ? Number.POSITIVE_INFINITY : error
}

async function ask(interpreter: string, requests: readonly unknown[]): Promise<z.infer<typeof reply>> {
  const child = spawn(interpreter, [`${folder}reference.py`], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(requests))
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`reference.py ended with ${code}`)
  return reply.parse(JSON.parse(printed))
}

const environment = await pythonEnvironment(folder, (line) => process.stdout.write(`${line}\n`))
if ('unavailable' in environment) {
  process.stdout.write(`SKIPPED: statistics are not compared with SciPy: ${environment.unavailable}\n`)
  process.stdout.write(`0 passed, 0 failed, ${checks.length} skipped\n`)
} else {
  const compared = checks.map((check) => {
    const random = new RandomInputs(`${check.estimator}/1`)
    return Array.from({ length: check.cases }, () => check.compare(random))
  })
  const { answers, versions } = await ask(
    environment.interpreter,
    compared.flat().map(({ reference }) => reference),
  )
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  process.stdout.write(`Against ${peers.join(', ')}.\n\n`)
  process.stdout.write('| estimator | against | cases | largest error | allowed |\n|---|---|--:|--:|--:|\n')
  let failed = 0
  let next = 0
  for (const [i, { estimator, against, tolerance, relative = false }] of checks.entries()) {
    const cases = compared[i] ?? []
    const errors = cases.map(({ ours }) => errorOf(ours, answers[next++], relative))
    const largest = Math.max(...errors)
    const passed = largest <= tolerance
    if (!passed) {
      failed++
      const worst = cases[errors.indexOf(largest)]
      process.stderr.write(
        `${estimator}: ${JSON.stringify(worst)}, right is ${JSON.stringify(answers[next - cases.length + errors.indexOf(largest)])}\n`,
      )
    }
    const cell = [
      estimator,
      against,
      cases.length,
      largest.toExponential(1),
      `${tolerance}${passed ? '' : ' FAILED'}`,
    ]
    process.stdout.write(`| ${cell.join(' | ')} |\n`)
  }
  process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed, 0 skipped\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
