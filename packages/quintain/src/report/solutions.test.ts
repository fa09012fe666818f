import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { foldRun } from '../core/index.ts'
import { writeHtmlReport } from './html/index.ts'
import { formatMarkdown } from './markdown.ts'
import { writeSampleRun } from './sample-run.ts'
import { formatAttempt, readAttempt } from './show.ts'
import { summarize } from './summarize.ts'
import { formatText } from './text.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-solutions-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** All that people are shown of a run. */
async function shown(policy: string): Promise<Record<string, string>> {
  const dir = join(root, policy.replace(':', '-'))
  await writeSampleRun(dir, { policy, orders: [{ task: 'a', attempts: [{ reward: 1 }] }] })
  const summary = await summarize(dir)
  const [state] = (await foldRun(dir)).states
  await writeHtmlReport(dir, `${dir}.html`)
  return {
    report: formatText(summary),
    markdown: formatMarkdown(summary),
    show: formatAttempt(await readAttempt(dir, state ?? expect.fail('no order'))),
    html: await readFile(`${dir}.html`, 'utf8'),
  }
}

test('a run of the oracle says everywhere that it holds the solutions', async () => {
  for (const [where, text] of Object.entries(await shown('script:oracle')))
    expect(text, where).toContain('not for publishing')
})

test('no other run does', async () => {
  for (const policy of ['script:play', 'script:oracles', 'openai-compatible:oracle'])
    expect(Object.values(await shown(policy)).join('\n')).not.toContain('not for publishing')
})
