// Real completions that nobody here wrote: four models on the 1,319 test problems of GSM8K, with the verdicts that were
// published with them. Graded through the engine under every profile; docs/gsm8k.md rules on every disagreement. The data
// is not in the repository; QUINTAIN_DATA, or ../shared/data beside the checkout, says where it lies.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordedModels } from '../../environments/gsm8k/src/index.ts'
import { foldRun } from '../../packages/quintain/src/core/index.ts'
import { evaluate } from '../../packages/quintain/src/index.ts'
import { compareRuns } from '../../packages/quintain/src/report/index.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(process.env['QUINTAIN_DATA'] ?? join(repository, '../shared/data'), 'gsm8k')
const [data, recordings] = ['test.jsonl', 'example_model_solutions.jsonl'].map((name) => join(folder, name))
const present = existsSync(data!) && existsSync(recordings!)

const reason =
  'gsm8k is not run: there is no gsm8k/test.jsonl with example_model_solutions.jsonl in QUINTAIN_DATA or ../shared/data'
if (!present) {
  console.warn(reason)
  test.skip(reason)
}

const profiles = ['robust', 'official', 'verifiers'] as const
type Published = Record<string, { is_correct: boolean }>

describe.runIf(present)('four recorded models on GSM8K', () => {
  let root: string
  let published: Published[]
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'quintain-gsm8k-real-'))
    const lines = readFileSync(recordings!, 'utf8').trim().split('\n')
    published = lines.map((line) => JSON.parse(line) as Published)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  /** Runs a model's recordings; for each profile the problems on which it and the published verdict differ. */
  async function disagreements(model: keyof typeof recordedModels, asReleased: boolean) {
    const dir = join(root, `${model}${asReleased ? '-as-released' : ''}`)
    const run = await evaluate(join(repository, 'environments/gsm8k'), {
      policy: `script:${model}`,
      options: { data, recordings, asReleased },
      dir,
      workers: 1,
    })
    const differ: Record<string, number[]> = { robust: [], official: [], verifiers: [] }
    for (const { order, chosen } of (await foldRun(dir)).states) {
      const { is_correct: correct } = published[order.index]![recordedModels[model]]!
      for (const profile of profiles)
        if (chosen!.verdict!.metrics[profile] !== Number(correct)) differ[profile]!.push(order.index)
    }
    return { dir, run, differ }
  }

  const models: [keyof typeof recordedModels, number][] = [
    ['6B-finetuned', 286],
    ['6B-verified', 515],
    ['175B-finetuned', 458],
    ['175B-verified', 742],
  ]

  test.each(models)(
    '%s: every profile agrees with all 1,319 published verdicts, %d of them right',
    async (model, right) => {
      const { run, differ } = await disagreements(model, false)
      expect([run.summary.orders, run.coverage, run.success.value]).toEqual([1319, 1, right / 1319])
      // The list of docs/gsm8k.md: empty.
      expect(differ).toEqual({ robust: [], official: [], verifiers: [] })
    },
  )

  test('as released, with "A:" for "####", the published scorer finds no answer, and the other two lose nothing', async () => {
    const { differ, run } = await disagreements('175B-verified', true)
    expect([differ['robust'], differ['verifiers'], run.success.value]).toEqual([[], [], 742 / 1319])
    const rightOnes = published.flatMap((row, index) => (row['175b_verification']!.is_correct ? [index] : []))
    expect(differ['official']).toEqual(rightOnes)
  })

  test('the four are compared in pairs, each difference that of the published counts', async () => {
    const dirs = models.map(([model]) => join(root, model))
    const { pairs, comparable } = await compareRuns(dirs, { pairs: 'all' })
    expect([pairs.length, comparable]).toEqual([6, true])
    for (const { from, to, success } of pairs) {
      expect(success!.pairs).toBe(1319)
      expect(success!.difference).toBeCloseTo((models[to]![1] - models[from]![1]) / 1319, 12)
      expect(success!.pHolm).toBeLessThan(0.01)
    }
  })
})
