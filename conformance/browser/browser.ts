// Opens the page of `report --html` in headless Chromium and uses it as a reader would. `node conformance/browser/browser.ts`
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { runCli } from '../../packages/quintain/src/cli/run-cli.ts'
import type { MessageNode } from '../../packages/quintain/src/core/index.ts'
import { type SampleRun, writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import { findChromium, startChromium } from './chromium.ts'
import { poorContrast } from './contrast.ts'
import { canary, opening, taskName, writeDeskRun } from './desk-run.ts'
import { countElements, type OpenedPage, openPage } from './open-page.ts'

/** The page's first paint, and what of a list may be in the document at once. */
const mostPaintMs = 2_000
const mostRows = 500
const mostElements = 4_000

const counts = { passed: 0, failed: 0, skipped: 0 }
const scratch = mkdtempSync(join(tmpdir(), 'quintain-browser-'))

class Refusal extends Error {}

function need(condition: boolean, complaint: string): void {
  if (!condition) throw new Refusal(complaint)
}

async function check(name: string, carryOut: () => Promise<string | void>): Promise<void> {
  const start = performance.now()
  try {
    const detail = await carryOut()
    counts.passed += 1
    const took = ((performance.now() - start) / 1000).toFixed(1)
    process.stdout.write(`browser: ${name} pass (${took} s)${detail === undefined ? '' : `  ${detail}`}\n`)
  } catch (thrown) {
    counts.failed += 1
    const text =
      thrown instanceof Refusal ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown)
    process.stdout.write(`browser: ${name} fail\n${text}\n`)
  }
}

/** Runs the command line and gives the file that it wrote. */
async function reportOf(dir: string, ...options: string[]): Promise<{ file: string; said: string }> {
  const file = `${dir}.html`
  const said = { text: '' }
  const sink = {
    write: (text: string) => {
      said.text += text
    },
  }
  const code = await runCli(['report', dir, '--html', file, ...options], {
    stdout: sink,
    stderr: sink,
    env: {},
    cwd: scratch,
  })
  need(code === 0, `report --html ended with ${code}: ${said.text}`)
  return { file, said: said.text }
}

async function sampleReport(name: string, run: SampleRun): Promise<string> {
  const dir = join(scratch, name)
  await writeSampleRun(dir, run)
  return (await reportOf(dir)).file
}

/** Opens a page, uses it, and has no complaint of it at the end. */
async function use(
  browser: Browser,
  file: string,
  options: Parameters<typeof openPage>[2],
  carryOut: (page: Page, opened: OpenedPage) => Promise<string | void>,
): Promise<string | void> {
  const opened = await openPage(browser, file, options)
  try {
    const detail = await carryOut(opened.page, opened)
    need(opened.complaints.length === 0, `the page complains: ${opened.complaints.join('; ')}`)
    return detail
  } finally {
    await opened.close()
  }
}

const user = (content: string, parent = -1): MessageNode => ({
  parent,
  seat: 'agent',
  sampled: false,
  message: { role: 'user', content },
})

async function checkDesk(browser: Browser): Promise<void> {
  const dir = join(scratch, 'desk')
  await writeDeskRun(dir, { tasks: 1250, repeats: 8 })
  const { file, said } = await reportOf(dir, '--min-coverage', '0.9')
  process.stdout.write(
    `browser: ${said.trim().replaceAll(`${scratch}/`, '').replaceAll('\n', '\nbrowser: ')}\n`,
  )

  await check(`first paint of 10,000 rollouts below ${mostPaintMs} ms, the median of three`, async () => {
    const times: number[] = []
    for (let i = 0; i < 3; i++) {
      await use(browser, file, {}, async (page, { firstPaint }) => {
        times.push(await firstPaint())
        await page.locator('.rollout').first().waitFor()
      })
    }
    const [, median = Number.NaN] = times.toSorted((a, b) => a - b)
    need(median < mostPaintMs, `first paint after ${times.map(Math.round).join(', ')} ms`)
    return `${times.map(Math.round).join(', ')} ms`
  })

  await check('rows in the document stay few, to the end of the list and back', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('.rollout').first().waitFor()
      for (const place of ['0.5', '1', '0']) {
        await page.evaluate(
          `{ const list = document.getElementById('list'); list.scrollTop = ${place} * list.scrollHeight }`,
        )
        await page.waitForTimeout(60)
        const { all, rows } = await countElements(page)
        need(rows > 0 && rows < mostRows && all < mostElements, `${rows} rows, ${all} elements at ${place}`)
        if (place === '1') await page.getByRole('option', { name: `${taskName(1249)}#7` }).waitFor()
      }
      const { all, rows } = await countElements(page)
      return `${rows} rows, ${all} elements`
    }),
  )

  await check('a task of the map filters the list, and its trajectory is there', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('#strip path').first().waitFor()
      await page.locator('#strip').hover({ position: { x: 60, y: 30 } })
      const task = /ticket-(\d+)/.exec((await page.locator('#strip-said').textContent()) ?? '')
      need(task !== null, 'the map does not say which task it is at')
      await page.locator('#strip').click({ position: { x: 60, y: 30 } })
      const names = await page.locator('.rollout .name').allTextContents()
      need(
        names.length === 8 && names.every((name) => name.startsWith(`${task![0]}#`)),
        `listed: ${names.join(', ')}`,
      )
      need(
        ((await page.locator('#count').textContent()) ?? '').startsWith('8 of 10,000'),
        'the count is another',
      )
      await page.locator('.rollout').nth(3).click()
      await page.getByText(opening(Number(task![1]), 3)).waitFor()
      need((await page.locator('.message.assistant').count()) > 0, 'nothing of the agent is shown')
      await page.getByRole('button', { name: 'Clear' }).click()
      await page.getByText('10,000 rollouts', { exact: true }).waitFor()
    }),
  )

  await check('by keyboard alone: map, list and next trajectory', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('#strip path').first().waitFor()
      await page.locator('#strip').focus()
      for (const key of ['End', 'ArrowLeft', 'Enter']) await page.keyboard.press(key)
      need((await page.locator('.rollout').count()) === 8, 'Enter does not filter')
      await page.locator('#list').focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      const selected = page.locator('.rollout[aria-selected=true]')
      need((await selected.getAttribute('aria-posinset')) === '2', 'the second is not selected')
      const name = (await selected.locator('.name').textContent()) ?? ''
      await page.locator('#reader-head h3', { hasText: name }).waitFor()
      const [, task, repeat] = /ticket-(\d+)#(\d+)/.exec(name) ?? []
      await page.getByText(opening(Number(task), Number(repeat))).waitFor()
      await page.getByRole('button', { name: 'next rollout' }).press('Enter')
      need((await selected.getAttribute('aria-posinset')) === '3', 'the button does not go on')
      await page.locator('#strip').focus()
      await page.keyboard.press('Escape')
      await page.getByText('10,000 rollouts', { exact: true }).waitFor()
    }),
  )

  await check('rollouts with a fault open with what was said until then', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('#kinds button.faulted').click()
      await page.locator('.rollout.faulted').nth(1).click()
      await page.locator('.verdict.fault').waitFor()
      need((await page.locator('.message').count()) >= 2, 'no message is shown')
      need(
        /500 five times|longer than 30 s/.test((await page.locator('#reader-body').textContent()) ?? ''),
        'the fault is not told',
      )
    }),
  )

  await check('text is found in messages, and an address opens its trajectory', async () => {
    const hash = `#rollout=${encodeURIComponent(`${taskName(900)}#4`)}`
    await use(browser, file, { hash }, async (page) => {
      await page.getByText(opening(900, 4)).waitFor()
      const top = async () => (await page.locator('#panes').boundingBox())?.y ?? Number.NaN
      for (let tries = 0; tries < 100 && !(Math.abs(await top()) < 2); tries++) await page.waitForTimeout(50)
      need(Math.abs(await top()) < 2, `it is in sight, and not ${await top()} pixels below`)
      need(
        (await page.locator('.rollout[aria-selected=true] .name').textContent()) === `${taskName(900)}#4`,
        'the list shows it',
      )
      await page.locator('#text').fill(opening(1234, 5))
      await page.getByText('0 of 10,000 rollouts', { exact: true }).waitFor()
      await page.getByLabel('in messages').check()
      await page.getByText('1 of 10,000 rollouts', { exact: true }).waitFor()
      need((await page.locator('.rollout .name').textContent()) === `${taskName(1234)}#5`, 'another is found')
    })
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    await check(`contrast in ${colorScheme} is 4.5 to 1 or better`, () =>
      use(browser, file, { colorScheme }, async (page) => {
        await page.locator('.rollout').first().click()
        await page.locator('.message').first().waitFor()
        const poor = await poorContrast(page)
        need(poor.length === 0, `too faint: ${poor.join('; ')}`)
      }),
    )
  }

  await check('a narrow screen needs no scrolling sideways', () =>
    use(browser, file, { viewport: { width: 360, height: 740 } }, async (page) => {
      await page.locator('.rollout').first().click()
      await page.locator('.message').first().waitFor()
      const [wide, seen] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, innerWidth]',
      )
      need(wide <= seen, `${wide} pixels wide on a screen of ${seen}`)
    }),
  )

  await check('on paper there is the report, and no empty list', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('.rollout').first().waitFor()
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      need(!(await page.locator('#panes').isVisible()), 'the list is printed')
      need(await page.getByText('The report in full').isVisible(), 'the report is not printed')
      const poor = await poorContrast(page)
      need(poor.length === 0, `too faint: ${poor.join('; ')}`)
    }),
  )

  await check('without scripts the report and its pictures stand', () =>
    use(browser, file, { javaScriptEnabled: false }, async (page) => {
      need(await page.locator('h1', { hasText: 'support-desk' }).isVisible(), 'there is no title')
      need((await page.locator('svg.chart').count()) > 4, 'there are no pictures')
      need(
        (await page.locator('noscript').textContent())?.includes('need JavaScript') ?? false,
        'it does not say what is missing',
      )
    }),
  )

  await check('nothing of private/ is on the page', async () => {
    need(!readFileSync(file, 'utf8').includes(canary), 'the canary is in the file')
    await use(browser, file, {}, async (page) => {
      await page.locator('#text').fill(canary)
      await page.getByLabel('in messages').check()
      await page.getByText('0 of 10,000 rollouts', { exact: true }).waitFor()
    })
  })

  await check('a page with room for a part says so, and how to see the rest', async () => {
    const small = await reportOf(dir, '--html-max-mb', '2')
    need(/holds [\d,]+ of 10,000 trajectories/.test(small.said), small.said)
    await use(browser, small.file, {}, async (page) => {
      await page.locator('#kinds button.success').click()
      for (const place of [0, 1, 2, 3]) {
        await page.locator('.rollout').nth(place).click()
        await page.locator('#reader-body .item').first().waitFor()
      }
      await page.locator('#kinds button.failure').click()
      await page.locator('.rollout').first().click()
      await page
        .getByText(/npx quintain show|Messages/)
        .first()
        .waitFor()
    })
  })
}

async function checkHostile(browser: Browser): Promise<void> {
  const attack = `<img src=x onerror="window.hit=1"><svg onload="window.hit=1"></svg></script><script>window.hit=1</script><a href="javascript:window.hit=1">a</a> \u2028 \u202e "'\`\${window.hit=1}`
  const file = await sampleReport('hostile', {
    policy: attack,
    environment: { name: attack, rewards: { [attack]: { kind: 'reward', weight: 1 } } },
    orders: [
      {
        task: attack,
        attempts: [
          {
            reward: 0,
            rewards: { [attack]: 0 },
            stop: attack,
            nodes: [
              user(attack),
              {
                parent: 0,
                seat: attack,
                sampled: true,
                message: {
                  role: 'assistant',
                  content: attack,
                  reasoning: attack,
                  toolCalls: [{ id: '1', name: attack, arguments: attack }],
                },
              },
              {
                parent: 1,
                seat: 'agent',
                sampled: false,
                message: { role: 'tool', toolCallId: '1', name: attack, content: attack, error: attack },
              },
            ],
          },
        ],
      },
      { task: 'b', attempts: [{ fault: { code: attack, message: attack } }] },
    ],
  })
  await check('text of models runs nothing and is shown as it is', () =>
    use(browser, file, {}, async (page) => {
      for (const place of [1, 0]) {
        await page.locator('.rollout').nth(place).click()
        await page.locator('#reader-head h3', { hasText: place === 1 ? 'b#0' : '<img' }).waitFor()
      }
      await page.locator('.message.tool').waitFor()
      const said = (await page.locator('.message.user .said').textContent()) ?? ''
      need(said.startsWith('<img src=x onerror="window.hit=1"><svg'), `shown: ${said}`)
      need(said.includes('\\u2028') && said.includes('\\u202e'), `hidden characters are not shown: ${said}`)
      need((await page.evaluate('window.hit')) === undefined, 'a script ran')
      need((await page.locator('main img, main a[href^=javascript]').count()) === 0, 'text became HTML')
    }),
  )
  await check('the page could not run or load anything if it wanted to', async () => {
    const { page, close } = await openPage(browser, file)
    try {
      const tried = await page.evaluate<string[]>(`(async () => {
        const told = []
        try { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hit=1">'); told.push('HTML of text') } catch {}
        const script = document.createElement('script')
        try { script.textContent = 'window.hit = 1'; document.body.append(script); if (window.hit) told.push('script') } catch {}
        try { await fetch('http://127.0.0.1:9/'); told.push('fetch') } catch (error) { if (!/Failed to fetch/.test(error.message)) told.push(error.message) }
        const blocked = await new Promise((done) => {
          document.addEventListener('securitypolicyviolation', (event) => /img/.test(event.effectiveDirective) && done(event.effectiveDirective))
          const image = document.createElement('img')
          image.src = 'http://127.0.0.1:9/x.png'
          document.body.append(image)
          setTimeout(() => done('nothing'), 2000)
        })
        if (blocked !== 'img-src') told.push('image: ' + blocked)
        return told
      })()`)
      need(tried.length === 0, `the policy lets pass: ${tried.join(', ')}`)
    } finally {
      await close()
    }
  })
}

async function checkLong(browser: Browser): Promise<void> {
  const many = 6_700
  const file = await sampleReport('long', {
    orders: [
      {
        task: 'long',
        attempts: [
          {
            reward: 0,
            nodes: Array.from({ length: many }, (_, i) => user(`event ${i} ${'x '.repeat(i % 90)}`, i - 1)),
            rewards: Object.fromEntries(Array.from({ length: many }, (_, i) => [`part-${i}`, 0])),
          },
        ],
      },
      { task: 'wide', attempts: [{ reward: 0, nodes: [user('y'.repeat(5_000_000))] }] },
      { task: 'later', attempts: [] },
    ],
  })
  await check('a trajectory of 6,700 messages and as many scores is read without holding them all', () =>
    use(browser, file, {}, async (page, { firstPaint }) => {
      need((await firstPaint()) < mostPaintMs, 'the first paint is late')
      await page.locator('.rollout').first().click()
      await page.getByText('event 0 ').waitFor()
      await page.locator('#reader-body').focus()
      for (let i = 0; i < 8; i++) {
        await page.keyboard.press('End')
        await page.waitForTimeout(60)
      }
      await page.getByText('part-6699').waitFor()
      await page.evaluate(
        `{ const body = document.getElementById('reader-body'); body.scrollTop = 0.6 * body.scrollHeight }`,
      )
      await page
        .getByText(/^event \d+ /)
        .first()
        .waitFor()
      const { all, rows } = await countElements(page)
      need(rows < mostRows && all < mostElements, `${rows} rows, ${all} elements`)
      return `${rows} rows, ${all} elements`
    }),
  )
  await check('a text of 5 MB is folded, and shown whole when that is asked for', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('.rollout').nth(1).click()
      await page.getByRole('button', { name: 'Show all 5,000,000 characters' }).click()
      const length = await page.evaluate<number>(
        `document.querySelector('.message .said').textContent.length`,
      )
      need(length === 5_000_000, `${length} characters`)
    }),
  )
  await check('an order without an attempt says that it is not written yet', () =>
    use(browser, file, {}, async (page) => {
      await page.locator('.rollout.pending').click()
      await page.getByText('Sample not written yet').waitFor()
    }),
  )
}

async function main(): Promise<void> {
  const found = findChromium({ install: true })
  if ('reason' in found) {
    counts.skipped += 1
    process.stdout.write(`browser: skipped: ${found.reason}\n`)
  } else {
    const browser = await startChromium(found.path)
    try {
      process.stdout.write(`browser: Chromium ${browser.version()}\n`)
      await checkDesk(browser)
      await checkHostile(browser)
      await checkLong(browser)
    } finally {
      await browser.close()
    }
  }
}

try {
  await main()
} catch (thrown) {
  counts.failed += 1
  process.stdout.write(`browser: ${thrown instanceof Error ? thrown.stack : String(thrown)}\n`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  if (counts.failed > 0) process.exitCode = 1
}
