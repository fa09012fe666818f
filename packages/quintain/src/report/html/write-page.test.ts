import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateNote, estimateValue } from '../estimate-text.ts'
import { printable } from '../printable.ts'
import { type SampleOrder, writeSampleRun } from '../sample-run.ts'
import { summarize } from '../summarize.ts'
import { reportRows } from '../text.ts'
import { escapeHtml } from './markup.ts'
import type { PageIndex, Transcript } from './page-data.ts'
import { writeHtmlReport } from './write-page.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-html-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)> \u2028 \u202eevil\u0007 <!-- ]]>`
const user = (content: string) => ({
  parent: -1,
  seat: 'agent',
  sampled: false,
  message: { role: 'user' as const, content },
})

const orders: SampleOrder[] = [
  {
    task: 'a',
    attempts: [
      {
        reward: 1,
        nodes: [user('hello a')],
        private: {
          secret: 'CANARY-1',
          state: { gold: 'CANARY-2' },
          evidence: { judge: 'CANARY-3' },
          errors: [{ stage: 'grade', text: 'CANARY-4' }],
        },
      },
    ],
  },
  { task: 'a', attempts: [{ fault: { message: 'first' } }, { reward: 0, nodes: [user(hostile)] }] },
  { task: hostile, attempts: [{ reward: 0, outcome: 'turn_limit' }] },
  {
    task: 'b',
    attempts: [{ fault: { owner: 'world', code: 'threw', message: hostile }, nodes: [user('partial')] }],
  },
  { task: 'c', attempts: [{ unscored: 'no_answer' }] },
  { task: 'd', attempts: [] },
]

/** What a browser would unpack. */
function dataOf(page: string): Map<string, unknown> {
  const found = page.matchAll(/<script type="application\/octet-stream" id="([^"]+)">([^<]*)<\/script>/g)
  return new Map(
    [...found].map(([, id, packed]) => [
      id!,
      JSON.parse(inflateRawSync(Buffer.from(packed!, 'base64')).toString()),
    ]),
  )
}

function transcriptsOf(page: string): Transcript[] {
  return [...dataOf(page)]
    .filter(([id]) => id.startsWith('data-chunk-'))
    .flatMap(([, list]) => list as Transcript[])
}

async function pageOf(
  name: string,
  run: readonly SampleOrder[],
  options: Parameters<typeof writeHtmlReport>[2] = {},
) {
  const dir = join(root, name)
  await writeSampleRun(dir, { orders: run, policy: `m ${hostile}` })
  const report = await writeHtmlReport(dir, join(root, `${name}.html`), options)
  return { dir, report, page: await readFile(report.file, 'utf8') }
}

describe('writeHtmlReport', () => {
  test('says what the terminal says, word for word, and has every order and attempt that counts', async () => {
    const { dir, report, page } = await pageOf('plain', orders, { minCoverage: 0.1, run: 'runs/plain' })
    const summary = await summarize(dir, { minCoverage: 0.1 })
    for (const { value, note } of reportRows({ ...summary, run: { ...summary.run, dir: 'runs/plain' } })) {
      expect(page).toContain(escapeHtml(value))
      if (note !== undefined) expect(page).toContain(escapeHtml(note))
    }
    expect(page).toContain(escapeHtml(estimateValue(summary.success).split(' ')[0]!))
    expect(page).toContain(escapeHtml(estimateNote(summary.success)))
    expect(page).not.toContain(root)

    const index = dataOf(page).get('data-index') as PageIndex
    expect(index.tasks).toEqual(['a', hostile, 'b', 'c', 'd'])
    expect(index.rows.tries).toEqual([1, 2, 1, 1, 1, 0])
    expect(transcriptsOf(page).map(({ row }) => row)).toEqual([0, 1, 2, 3, 4])
    expect(dataOf(page).get('data-places')).toEqual([0, 0, 0, 0, 0, -1])
    expect(report).toMatchObject({ embedded: 5, recorded: 5, bytes: Buffer.byteLength(page) })
    expect(report.said).toBe('All 5 trajectories are in this page. 1 order has no attempt yet.')
    expect(transcriptsOf(page)[3]).toMatchObject({
      attempt: { fault: { owner: 'world' } },
      nodes: [{ message: { content: 'partial' } }],
    })
  })

  test('nothing of private/ is in the page, packed or not', async () => {
    const { page } = await pageOf('private', orders)
    const all = `${page}${JSON.stringify([...dataOf(page)])}`
    expect(all).toContain('hello a')
    expect(all).not.toContain('CANARY')
  })

  test('text of models is inert: no tag, no script, and the policy allows the one script alone', async () => {
    const { page } = await pageOf('hostile', orders)
    expect(page.match(/<script/g)).toHaveLength(4)
    expect(page).not.toContain('<img')
    expect(page).not.toMatch(/[\u2028\u202e\u0007]/)
    expect(page).toContain(escapeHtml(printable('\u202eevil\u0007')))
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/)
    const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? ''
    expect(policy).toContain(createHash('sha256').update(script).digest('base64'))
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ''
    expect(policy).toContain(createHash('sha256').update(style).digest('base64'))
    // Neither is in reach of the policy, so neither may be there.
    expect(page).not.toMatch(/\sstyle="|\son\w+="/)
    expect(page).not.toMatch(/(src|href)="(?!data:image\/svg|#)/)
  })

  test('the same run gives the same bytes, over the page that it made before', async () => {
    const { dir, page } = await pageOf('twice', orders)
    await writeHtmlReport(dir, join(root, 'twice.html'))
    expect(await readFile(join(root, 'twice.html'), 'utf8')).toBe(page)
  })

  test('a page that cannot hold all holds the failures first, says so, and keeps its size', async () => {
    const noise = (i: number) => createHash('sha512').update(`${i}`).digest('base64').repeat(2)
    const many = Array.from({ length: 300 }, (_, i) => ({
      task: `t${i % 100}`,
      attempts: [
        { reward: Number(i % 3 > 0), nodes: Array.from({ length: 20 }, (_, k) => user(noise(i * 20 + k))) },
      ],
    }))
    const { report, page } = await pageOf('small', many, { maxMb: 0.35 })
    expect(report.bytes).toBeLessThanOrEqual(350_000)
    expect(report.bytes).toBeGreaterThan(250_000)
    expect(report.embedded).toBeGreaterThan(100)
    expect(report.embedded).toBeLessThan(300)
    const rows = transcriptsOf(page).map(({ row }) => row)
    expect(rows.filter((row) => row % 3 === 0)).toHaveLength(100)
    expect(report.said).toContain(`This page holds ${report.embedded} of 300 trajectories`)
    expect(page).toContain(escapeHtml(report.said))
    const places = dataOf(page).get('data-places') as number[]
    for (const [row, place] of places.entries()) expect(place >= 0).toBe(rows.includes(row))

    const { report: none } = await pageOf('none', many, { maxMb: 0 })
    expect(none.embedded).toBe(0)
  })

  test('one trajectory that is too large does not keep the others out', async () => {
    const noise = Array.from({ length: 2_400 }, (_, i) =>
      user(createHash('sha512').update(`${i}`).digest('base64')),
    )
    const { report, page } = await pageOf(
      'huge',
      [
        { task: 'huge', attempts: [{ reward: 0, nodes: noise }] },
        { task: 'small', attempts: [{ reward: 1, nodes: [user('small')] }] },
      ],
      { maxMb: 0.15 },
    )
    expect(report.embedded).toBe(1)
    expect(transcriptsOf(page).map(({ nodes }) => nodes.length)).toEqual([1])
  })

  test('runs without orders, tasks, scores or attempts have a page', async () => {
    const { page } = await pageOf('empty', [])
    expect(page).toContain('nothing was ordered')
    const pending = await pageOf('pending', [{ task: 'a', attempts: [] }])
    expect(pending.report.said).toBe('All 0 trajectories are in this page. 1 order has no attempt yet.')
    const faulted = await pageOf('faulted', [{ task: 'a', attempts: [{ fault: {} }] }])
    expect(faulted.page).toContain('nothing was scored')
    const negative = await pageOf('negative', [
      { task: 'a', attempts: [{ reward: -1e9 }] },
      { task: 'b', attempts: [{ reward: -1e308, timing: { wallMs: 0, gradeMs: 0 } }] },
    ])
    expect(negative.page.split('data-index')[0]).not.toMatch(/NaN|Infinity/)
  })

  test('a damaged trajectory is told in its place and hides nothing else', async () => {
    const dir = join(root, 'damaged')
    await writeSampleRun(dir, {
      orders: [{ task: 'a', attempts: [{ reward: 1, nodes: [user('intact text')] }] }],
    })
    const file = join(dir, 'trajectories.jsonl')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('intact', 'broken'))
    const { file: made } = await writeHtmlReport(dir, join(root, 'damaged.html'))
    const [transcript] = transcriptsOf(await readFile(made, 'utf8'))
    expect(transcript).toMatchObject({ nodes: [], attempt: { verdict: { reward: 1 } } })
    expect(transcript?.problems[0]).toMatch(
      /^trajectories\.jsonl: the \d+ bytes at 0 are not what was written/,
    )
    await truncate(file, 10)
    await writeHtmlReport(dir, join(root, 'damaged.html'))
    expect(await readFile(made, 'utf8')).toContain('damaged place')
  })
})

describe('the file', () => {
  const leftovers = async () => (await readdir(root)).filter((name) => name.startsWith('.'))

  test('what somebody else wrote is not overwritten unless that is asked for', async () => {
    const dir = join(root, 'kept')
    await writeSampleRun(dir, { orders })
    const file = join(root, 'notes.html')
    await writeFile(file, '<!doctype html>\n<p>my notes')
    await expect(writeHtmlReport(dir, file)).rejects.toMatchObject({ code: 'output_exists' })
    expect(await readFile(file, 'utf8')).toContain('my notes')
    await writeHtmlReport(dir, file, { force: true })
    expect(await readFile(file, 'utf8')).toContain('Quintain report')
    await writeFile(file, '')
    await writeHtmlReport(dir, file)
    expect(await leftovers()).toEqual([])
  })

  test('a place that cannot be written, or a run that is none, is told and leaves nothing behind', async () => {
    const dir = join(root, 'kept2')
    await writeSampleRun(dir, { orders })
    await expect(writeHtmlReport(dir, root)).rejects.toMatchObject({ code: 'output_io' })
    await expect(writeHtmlReport(dir, join(dir, 'run.json', 'x.html'))).rejects.toMatchObject({
      code: 'output_io',
    })
    await expect(writeHtmlReport(dir, join(root, 'no', 'such.html'))).rejects.toMatchObject({
      code: 'output_io',
    })
    await expect(writeHtmlReport(join(root, 'absent'), join(root, 'x.html'))).rejects.toMatchObject({
      code: 'run_not_found',
    })
    expect(await leftovers()).toEqual([])
    expect(await readdir(root)).not.toContain('x.html')
  })

  test('a full disk leaves the page that was there, and no half of a new one', async (context) => {
    const disk = await mkdtemp(join(tmpdir(), 'quintain-full-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', disk], { stdio: 'ignore' })
    } catch {
      await rm(disk, { recursive: true })
      return context.skip('may not mount a small disk')
    }
    try {
      const dir = join(root, 'full')
      const noise = Array.from({ length: 300 }, (_, i) => ({
        task: `t${i}`,
        attempts: [
          {
            reward: 1,
            nodes: Array.from({ length: 20 }, (_, k) =>
              user(createHash('sha512').update(`${i}.${k}`).digest('base64')),
            ),
          },
        ],
      }))
      await writeSampleRun(dir, { orders: noise })
      const file = join(disk, 'page.html')
      await writeFile(file, '<!doctype html>\n<!-- quintain report 1 -->\nold')
      await expect(writeHtmlReport(dir, file)).rejects.toMatchObject({ code: 'disk_full' })
      expect(await readFile(file, 'utf8')).toContain('old')
      expect(await readdir(disk)).toEqual(['page.html'])
    } finally {
      execFileSync('umount', [disk])
      await rm(disk, { recursive: true })
    }
  })
})
