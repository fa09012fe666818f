import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeSampleRun } from './sample-run.ts'
import { summarize } from './summarize.ts'

const golden = new URL('./__golden__/report-v1.json', import.meta.url)

/** Every path of a JSON value with the type that lies there; elements of lists share one path. */
function shape(value: unknown, path = '$'): Map<string, string> {
  if (Array.isArray(value)) {
    return new Map([[path, 'array'], ...value.flatMap((item) => [...shape(item, `${path}[]`)])])
  }
  if (typeof value === 'object' && value !== null) {
    return new Map([
      [path, 'object'],
      ...Object.entries(value).flatMap(([key, item]) => [...shape(item, `${path}.${key}`)]),
    ])
  }
  return new Map([[path, value === null ? 'null' : typeof value]])
}

// A report that somebody wrote a reader for keeps every field it had; a version only grows.
test('version 1 of the report has all that it ever had', async () => {
  const root = await mkdtemp(join(tmpdir(), 'quintain-golden-'))
  try {
    const dir = join(root, 'run')
    const usage = { fresh: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 1 }
    const full = {
      reward: 1,
      rewards: { solved: 1 },
      metrics: { guesses: 3 },
      usage: { agent: usage, simulator: usage, judge: usage },
      costUsd: { agent: 0.1, simulator: 0.1, judge: 0.1 },
      counts: { toolErrors: { malformed: 1 }, flags: { odd: 1 } },
    }
    await writeSampleRun(dir, {
      environment: { metrics: ['guesses'] },
      orders: [
        { task: 'a', attempts: [{ fault: { code: 'rate_limited' }, final: false }, full] },
        { task: 'a', attempts: [{ unscored: 'no_answer' }] },
        { task: 'b', attempts: [{ fault: {} }] },
        { task: 'b', attempts: [{ reward: 0, outcome: 'truncated' }] },
      ],
    })
    const summary = JSON.parse(
      JSON.stringify({ ...(await summarize(dir)), warnings: [{ code: 'x', message: 'y' }] }),
    )
    if (process.env.QUINTAIN_WRITE_GOLDEN) await writeFile(golden, `${JSON.stringify(summary, null, 2)}\n`)
    const today = shape(summary)
    for (const [path, type] of shape(JSON.parse(await readFile(golden, 'utf8')))) {
      expect(today.get(path), path).toBe(type)
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})
