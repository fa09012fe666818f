// node conformance/text-sim/validate.ts   Compares every metric of texts with the Python package that defines it, on
// seeded and hand-made pairs, and prints the largest differences. Skipped aloud where there is no Python or no index.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { textMetrics, textSimilarity } from '../../packages/quintain/src/scoring/index.ts'
import { porterStem } from '../../packages/quintain/src/scoring/similarity/porter-stem.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { pairsOf, wordsOf } from './pairs.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const tolerance = 1e-9
const reply = z.object({
  scores: z.record(z.string(), z.array(z.number())),
  stems: z.array(z.string()),
  versions: z.record(z.string(), z.string()),
})

async function ask(interpreter: string, request: unknown): Promise<z.infer<typeof reply>> {
  const child = spawn(interpreter, [`${folder}reference.py`], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(request))
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`reference.py ended with ${code}`)
  return reply.parse(JSON.parse(printed))
}

const environment = await pythonEnvironment(folder, (line) => process.stdout.write(`${line}\n`))
if ('unavailable' in environment) {
  process.stdout.write(`SKIPPED: metrics of texts are not compared: ${environment.unavailable}\n`)
  process.stdout.write(`0 passed, 0 failed, ${textMetrics.length + 1} skipped\n`)
} else {
  const pairs = Object.fromEntries(textMetrics.map((metric) => [metric, pairsOf(metric, 1_500)]))
  const words = wordsOf('stems', 5_000)
  const { scores, stems, versions } = await ask(environment.interpreter, { pairs, words })
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  process.stdout.write(
    `Against ${peers.join(', ')}.\n\n| metric | pairs | largest difference | allowed |\n|---|--:|--:|--:|\n`,
  )
  let failed = 0
  for (const metric of textMetrics) {
    const differences = pairs[metric]!.map(([input, reference], i) => {
      const ours = textSimilarity({ metric, input, reference })
      return ours === null ? Number.POSITIVE_INFINITY : Math.abs(ours - scores[metric]![i]!)
    })
    const largest = Math.max(...differences)
    const passed = largest <= tolerance
    if (!passed) {
      failed++
      const at = differences.indexOf(largest)
      const [input, reference] = pairs[metric]![at]!
      const ours = textSimilarity({ metric, input, reference })
      process.stderr.write(
        `${metric}: ${JSON.stringify([input, reference])} is ${ours}, right is ${scores[metric]![at]}\n`,
      )
    }
    process.stdout.write(
      `| ${metric} | ${differences.length} | ${largest.toExponential(1)} | ${tolerance}${passed ? '' : ' FAILED'} |\n`,
    )
  }
  const wrong = words.filter((word, i) => porterStem(word) !== stems[i])
  if (wrong.length > 0) {
    failed++
    process.stderr.write(
      `stems of ${wrong.slice(0, 5).map((word) => `${word}: ${porterStem(word)}, not ${stems[words.indexOf(word)]}`)}\n`,
    )
  }
  process.stdout.write(`\nPorter stems: ${words.length - wrong.length} of ${words.length} the same.\n`)
  process.stdout.write(`${textMetrics.length + 1 - failed} passed, ${failed} failed, 0 skipped\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
