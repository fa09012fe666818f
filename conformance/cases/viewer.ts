import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { MessageNode } from '../../packages/quintain/src/core/index.ts'
import { writeHtmlReport } from '../../packages/quintain/src/report/html/index.ts'
import { printable } from '../../packages/quintain/src/report/printable.ts'
import { type SampleOrder, writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import { findChromium, startChromium } from '../browser/chromium.ts'
import { countElements, type OpenedPage, openPage } from '../browser/open-page.ts'

type Input = Record<string, unknown>

const user = (content: string, parent = -1, reward?: number): MessageNode => ({
  parent,
  seat: 'agent',
  sampled: false,
  message: { role: 'user', content },
  ...(reward === undefined ? {} : { reward }),
})

/** Makes the page of a run, opens it in the browser, and opens the trajectory of the order. */
async function inBrowser<T>(
  executable: string,
  orders: readonly SampleOrder[],
  look: (page: Page, opened: OpenedPage) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  try {
    await writeSampleRun(join(root, 'run'), { orders })
    const { file } = await writeHtmlReport(join(root, 'run'), join(root, 'run.html'))
    const browser = await startChromium(executable)
    try {
      const opened = await openPage(browser, file)
      await opened.page.locator('.rollout').first().click()
      await opened.page.locator('#reader-body .item').first().waitFor()
      return await look(opened.page, opened)
    } finally {
      await browser.close()
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

function opsWith(executable: string): Record<string, (input: Input) => unknown> {
  return {
    'viewer.open': ({ events, score_metadata_items, manifest_has_sample }) => {
      const nodes = Array.from({ length: Number(events ?? 1) }, (_, i) => user(`event ${i}`, i - 1))
      const scores = Array.from({ length: Number(score_metadata_items ?? 1) }, (_, i) => [`score-${i}`, 1])
      const rewards = Object.fromEntries(scores) as Record<string, number>
      const attempts = manifest_has_sample === false ? [] : [{ reward: 1, nodes, rewards }]
      return inBrowser(executable, [{ task: 'sample', attempts }], async (page, opened) => {
        const shown = (await page.locator('#reader-body').textContent()) ?? ''
        const { rows } = await countElements(page)
        return {
          first_paint_ms: await opened.firstPaint(),
          dom_rows: rows,
          // The page says more than the word of the cases.
          message: /^Sample not written yet\b/.test(shown) ? 'sample not written yet' : shown,
          crash: opened.complaints.length > 0,
        }
      })
    },

    'viewer.render': ({ text }) =>
      inBrowser(
        executable,
        [{ task: 'sample', attempts: [{ reward: 0, nodes: [user(String(text))] }] }],
        async (page, { complaints }) => {
          // Hidden characters stand as escapes: that is their literal form.
          const shown = await page.locator('.message .said').textContent()
          return { scripts_run: complaints.length, literal_text_shown: shown === printable(String(text)) }
        },
      ),

    'console.state': ({ sessions, view }) => {
      const names = (sessions as unknown[]).map(String)
      const orders = names.map((name) => ({
        task: name,
        attempts: [{ reward: 1, nodes: [user(`state of ${name}`)] }],
      }))
      return inBrowser(executable, orders, async (page) => {
        // One after the other, faster than they can be read, and the one that is asked for last.
        for (const name of [...names, String(view)])
          await page.getByRole('option', { name: `${name}#0` }).click({ noWaitAfter: true })
        const shown = page.locator('#reader-body .message .said')
        await page.locator('#reader-head h3', { hasText: `${view}#0` }).waitFor()
        await shown.filter({ hasText: 'state of' }).waitFor()
        return { state_of: (await shown.textContent())?.replace('state of ', '') }
      })
    },

    'viewer.failed_sample': ({ status }) => {
      const nodes = [user('said before it failed'), user('and after', 0, 0.25)]
      const attempt =
        status === 'cancelled'
          ? ({ outcome: 'cancelled', nodes } as const)
          : ({ fault: { code: String(status), message: 'it failed' }, nodes } as const)
      return inBrowser(executable, [{ task: 'sample', attempts: [attempt] }], async (page) => {
        const shown = (await page.locator('#reader-body').textContent()) ?? ''
        return {
          shows_partial_messages: shown.includes('said before it failed') && shown.includes('and after'),
          shows_intermediate_scores: shown.includes('reward 0.250'),
        }
      })
    },
  }
}

const found = findChromium({ install: false })
// Without a browser these cases are not mapped, so that they are skipped and never passed.
export const ops = 'path' in found ? opsWith(found.path) : {}
