import { execFileSync, fork } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  entry,
  laterVerdict,
  manifest,
  order,
  request,
  summary,
  temporaryFolder,
  writeRun,
} from './__fixtures__/run.ts'
import { sha256 } from './canonical.ts'
import { Journal, linePart } from './journal.ts'
import type { AttemptRecord } from './records.ts'
import {
  foldRun,
  readManifest,
  readPrivate,
  readTokens,
  readTrajectory,
  readVerdict,
  runFiles,
} from './run-folder.ts'

afterEach(() => vi.restoreAllMocks())

const statuses = async (dir: string) => (await foldRun(dir)).states.map(({ status }) => status)
const idsOf = async (dir: string) => (await foldRun(dir)).states.map(({ chosen }) => chosen?.id)

/** Every file of a folder, locks left out. */
function contents(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((found) => found.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name)).toString('latin1')]),
  )
}

/** A process that can be seen at work on a run, without the engine round it. */
function writerProcess(dir: string) {
  const child = fork(join(import.meta.dirname, '__fixtures__', 'writer.ts'), [dir], { stdio: 'inherit' })
  return {
    child,
    said: new Promise<string>((resolve) => child.once('message', (word) => resolve(String(word)))),
  }
}

describe('writing', () => {
  test('what is written is read back, part by part', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    const { states, issues, requests } = await foldRun(dir)
    expect(issues).toEqual([])
    expect(requests).toEqual([request])
    expect(states.map(({ order: one, status, tries }) => [one.id, status, tries])).toEqual([
      ['task-0#0', 'scored', 1],
      ['task-1#0', 'scored', 1],
      ['task-2#0', 'scored', 1],
    ])
    for (const [seq, { chosen }] of states.entries()) {
      expect((await readTrajectory(dir, chosen!)).nodes[0]!.message.content).toBe(`say ${seq}\u2028`)
      expect((await readVerdict(dir, chosen!))?.attempt).toBe(chosen!.id)
      expect((await readPrivate(dir, chosen!))?.secret).toEqual({ gold: `gold ${seq}` })
      const tokens = await readTokens(dir, chosen!)
      expect([...new Int32Array(new Uint8Array(tokens!).buffer)]).toEqual([seq, 1, 2, 3])
    }
  })

  test('what is never published lies under private/ and nowhere else', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 2)
    for (const [name, text] of Object.entries(contents(dir))) {
      expect(text.includes('gold 1'), name).toBe(name === 'records.jsonl')
    }
    expect(statSync(join(dir, 'private')).mode & 0o077).toBe(0)
  })

  test('an order is on disk when appendOrders resolves, an attempt when flush resolves', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    await journal.appendOrders([])
    await journal.appendOrders([request, order(0)])
    expect(await statuses(dir)).toEqual(['pending'])
    journal.appendAttempt(entry(0))
    await journal.flush()
    expect(await statuses(dir)).toEqual(['scored'])
    await journal.close()
  })

  test('a later verdict takes the place of a pending one and says nothing of other attempts', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    await journal.appendOrders([request, order(0), order(1)])
    for (const seq of [0, 1]) journal.appendAttempt(entry(seq, { reward: null, pending: true }))
    const { line, part } = laterVerdict(0, 0.25)
    journal.appendVerdict(line, part)
    await journal.close()
    const { states } = await foldRun(dir)
    expect(states.map(({ status, chosen }) => [status, chosen?.verdict?.reward])).toEqual([
      ['scored', 0.25],
      ['pending', null],
    ])
  })

  test('equal bytes are one blob, under their hash', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    const names = await Promise.all(['a', 'b', 'a'].map((text) => journal.putBlob(Buffer.from(text))))
    await journal.close()
    expect(names[0]).toBe(sha256('a'))
    expect(readdirSync(join(dir, runFiles.blobs)).sort()).toEqual([sha256('a'), sha256('b')].sort())
    expect(readFileSync(join(dir, runFiles.blobs, sha256('b')), 'utf8')).toBe('b')
  })

  test('a thousand attempts at once make whole lines in the order in which they came', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    const many = Array.from({ length: 1_000 }, (_, seq) => seq)
    await journal.appendOrders(many.map(order))
    for (const seq of many) journal.appendAttempt(entry(seq, { filler: 'x'.repeat(seq) }))
    await journal.ready()
    await journal.close()
    expect(await idsOf(dir)).toEqual(many.map((seq) => `attempt-${seq}`))
  })

  test('a record that JSON cannot hold is an error, not a crash, and what was written before stays', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    await journal.appendOrders([order(0), order(1)])
    journal.appendAttempt(entry(0))
    await journal.flush()
    const bad = entry(1)
    journal.appendAttempt({ ...bad, attempt: { ...bad.attempt, stop: 1n as unknown as string } })
    await expect(journal.close()).rejects.toMatchObject({ code: 'not_json' })
    expect(await statuses(dir)).toEqual(['scored', 'pending'])
  })
})

describe('making and opening', () => {
  test('a folder with a run is not made into another', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    const before = contents(dir)
    await expect(Journal.create(dir, manifest())).rejects.toMatchObject({ code: 'run_exists' })
    expect(contents(dir)).toEqual(before)
  })

  test('a process that was killed while it made the folder leaves one in which a run can be made', async () => {
    const dir = temporaryFolder()
    const line = JSON.stringify(manifest())
    for (const length of [0, 1, 20, line.length - 1]) {
      rmSync(join(dir, runFiles.manifest), { force: true })
      writeFileSync(join(dir, runFiles.orders), line.slice(0, length))
      const journal = await Journal.create(dir, manifest())
      await journal.close()
      expect((await readManifest(dir)).id).toBe('run-1')
      expect((await foldRun(dir)).issues).toEqual([])
    }
  })

  test('an empty or strange folder, and a file, are not runs', async () => {
    const dir = temporaryFolder()
    await expect(Journal.open(dir)).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(Journal.open(join(dir, 'nowhere'))).rejects.toMatchObject({ code: 'run_not_found' })
    writeFileSync(join(dir, 'file'), 'text')
    await expect(Journal.open(join(dir, 'file'))).rejects.toMatchObject({ code: 'run_not_found' })
    expect(readdirSync(dir)).toEqual(['file'])
  })

  test.each(['run.json', 'orders.jsonl', 'attempts.jsonl'])(
    'a run whose %s is of a newer schema is refused and nothing is changed',
    async (file) => {
      const dir = temporaryFolder()
      await writeRun(dir, 2)
      truncateSync(join(dir, runFiles.trajectories), 10)
      appendFileSync(join(dir, runFiles.orders), '{"schema":"quintain.order","v":1,"id":"to')
      if (file === 'run.json') {
        writeFileSync(join(dir, file), JSON.stringify({ ...manifest(), v: 2, moreThanWeKnow: true }))
      } else {
        const path = join(dir, file)
        const lines = readFileSync(path, 'utf8')
        writeFileSync(path, `${JSON.stringify({ schema: 'quintain.attempt', v: 2, new: 1 })}\n${lines}`)
      }
      const before = contents(dir)
      await expect(Journal.open(dir)).rejects.toMatchObject({ code: 'run_too_new' })
      await expect(foldRun(dir)).rejects.toMatchObject({ code: 'run_too_new' })
      expect(contents(dir)).toEqual(before)
    },
  )

  test('a trajectory of a newer schema is refused by name', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    const journal = await Journal.open(dir)
    const one = entry(0, { id: 'newer' })
    const bytes = Buffer.from(one.trajectory.bytes).toString().replace('"v":1', '"v":2')
    journal.journal.appendAttempt({ ...one, trajectory: linePart(JSON.parse(bytes)) })
    await journal.journal.close()
    const { states } = await foldRun(dir)
    await expect(readTrajectory(dir, states[0]!.chosen!)).rejects.toMatchObject({ code: 'run_too_new' })
  })

  test('a torn run.json is mended from its copy, and a lost copy from run.json', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    truncateSync(join(dir, runFiles.manifest), 30)
    await (await Journal.open(dir)).journal.close()
    expect(JSON.parse(readFileSync(join(dir, runFiles.manifest), 'utf8'))).toEqual(manifest())

    truncateSync(join(dir, runFiles.orders), 30)
    await (await Journal.open(dir)).journal.close()
    rmSync(join(dir, runFiles.manifest))
    expect(await readManifest(dir)).toEqual(manifest())
  })

  test('a manifest that is gone in both places is an error that says so', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    writeFileSync(join(dir, runFiles.manifest), '{"schema":"quintain.run","v":1}')
    expect((await readManifest(dir)).id).toBe('run-1')
    const path = join(dir, runFiles.orders)
    writeFileSync(path, readFileSync(path, 'utf8').replace('quintain.run', 'quintain.ruin'))
    await expect(foldRun(dir)).rejects.toMatchObject({ code: 'run_corrupt' })
    await expect(Journal.open(dir)).rejects.toMatchObject({ code: 'run_corrupt' })
  })

  test('what a run was mended of is told once', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 2)
    appendFileSync(join(dir, runFiles.attempts), '{"schema":"quintain.att')
    const path = join(dir, runFiles.orders)
    writeFileSync(path, `${readFileSync(path, 'utf8')}not json\n`)
    const { journal, fold } = await Journal.open(dir)
    await journal.close()
    expect(fold.issues.map(({ file, what }) => [file, what])).toEqual([
      ['attempts.jsonl', 'torn_tail'],
      ['orders.jsonl', 'bad_line'],
    ])
    expect((await foldRun(dir)).issues.map(({ what }) => what)).toEqual(['bad_line'])
  })

  test('opening twice in a row changes nothing the second time', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    truncateSync(join(dir, runFiles.private), statSync(join(dir, runFiles.private)).size - 5)
    await (await Journal.open(dir)).journal.close()
    const once = contents(dir)
    await (await Journal.open(dir)).journal.close()
    expect(contents(dir)).toEqual(once)
  })
})

describe('damage', () => {
  /** Takes the run up, runs again what is open, and says which attempts count then. */
  async function takeUp(dir: string): Promise<(string | undefined)[]> {
    const { journal, fold } = await Journal.open(dir)
    for (const { order: one, status } of fold.states) {
      if (status === 'pending')
        journal.appendAttempt(entry(one.seq, { id: `again-${one.seq}`, filler: 'other' }))
    }
    await journal.close()
    const { states } = await foldRun(dir)
    for (const { chosen } of states) {
      expect((await readTrajectory(dir, chosen!)).attempt).toBe(chosen!.id)
      expect((await readPrivate(dir, chosen!))?.attempt).toBe(chosen!.id)
    }
    return states.map(({ chosen }) => chosen?.id)
  }

  test.each([['trajectories.jsonl'], ['verdicts.jsonl'], ['private/records.jsonl'], ['tokens.bin']])(
    'an attempt that lost bytes of %s does not count, and new bytes in their place do not bring it back',
    async (file) => {
      const dir = temporaryFolder()
      await writeRun(dir, 3)
      truncateSync(join(dir, file), statSync(join(dir, file)).size - 3)
      expect(await statuses(dir)).toEqual(['scored', 'scored', 'pending'])
      expect((await foldRun(dir)).issues.map(({ what }) => what)).toContain('missing_part')
      expect(await takeUp(dir)).toEqual(['attempt-0', 'attempt-1', 'again-2'])
      const { states, issues } = await foldRun(dir)
      expect(issues).toEqual([])
      expect(states[2]!.tries).toBe(1)
    },
  )

  test.each(['trajectories.jsonl', 'verdicts.jsonl', 'private/records.jsonl', 'tokens.bin'])(
    'one bit that flipped in %s is found when the run is opened',
    async (file) => {
      const dir = temporaryFolder()
      await writeRun(dir, 3)
      const bytes = readFileSync(join(dir, file))
      const at = Math.floor(bytes.length / 2)
      bytes[at]! ^= 0x10
      writeFileSync(join(dir, file), bytes)
      const first = (await foldRun(dir)).states[1]!.chosen!
      const reading =
        file === 'tokens.bin'
          ? readTokens(dir, first)
          : file.startsWith('private')
            ? readPrivate(dir, first)
            : file.startsWith('verdicts')
              ? readVerdict(dir, first)
              : readTrajectory(dir, first)
      await expect(reading).rejects.toMatchObject({ code: 'run_corrupt' })
      expect(await takeUp(dir)).toEqual(['attempt-0', 'again-1', 'attempt-2'])
    },
  )

  test('any one bit of attempts.jsonl may flip: nothing throws but a newer version, and nobody else is touched', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    const path = join(dir, runFiles.attempts)
    const whole = readFileSync(path)
    const start = whole.indexOf(0x0a) + 1
    const end = whole.indexOf(0x0a, start)
    for (let at = start; at <= end; at++) {
      const bytes = Buffer.from(whole)
      bytes[at]! ^= 1 << (at % 7)
      writeFileSync(path, bytes)
      const fold = await foldRun(dir).catch((error: { code?: string }) => error.code)
      if (fold === 'run_too_new') continue
      if (typeof fold !== 'object') throw new Error(`byte ${at}: ${fold}`)
      const [first, damaged, last] = fold.states
      expect(first!.chosen?.id).toBe('attempt-0')
      // The LF between two lines takes both of them along.
      if (at < end) expect(last!.chosen?.id).toBe('attempt-2')
      expect(fold.states).toHaveLength(3)
      if (damaged!.status === 'pending') expect(fold.issues.length).toBeGreaterThan(0)
    }
  })

  test('any one bit of orders.jsonl may flip: nothing throws but a newer version, and no order is there twice', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    const path = join(dir, runFiles.orders)
    const whole = readFileSync(path)
    for (let at = whole.indexOf(0x0a); at < whole.length; at++) {
      const bytes = Buffer.from(whole)
      bytes[at]! ^= 1 << (at % 7)
      writeFileSync(path, bytes)
      const fold = await foldRun(dir).catch((error: { code?: string }) => error.code)
      if (fold === 'run_too_new') continue
      if (typeof fold !== 'object') throw new Error(`byte ${at}: ${fold}`)
      const seqs = fold.states.map(({ order: one }) => one.seq)
      expect(new Set(seqs).size).toBe(seqs.length)
      expect(seqs.length).toBeLessThanOrEqual(3)
      expect(Math.max(-1, ...seqs)).toBeLessThan(10)
    }
  })

  test('a later verdict that lost its part is taken back, so that its group is graded again', async () => {
    const dir = temporaryFolder()
    const journal = await Journal.create(dir, manifest())
    await journal.appendOrders([order(0), order(1)])
    for (const seq of [0, 1]) journal.appendAttempt(entry(seq, { reward: null, pending: true }))
    await journal.flush()
    for (const seq of [0, 1]) {
      const { line, part } = laterVerdict(seq, 0.5)
      journal.appendVerdict(line, part)
    }
    await journal.close()
    truncateSync(join(dir, runFiles.verdicts), statSync(join(dir, runFiles.verdicts)).size - 4)
    expect(await statuses(dir)).toEqual(['scored', 'pending'])

    const again = await Journal.open(dir)
    expect(again.fold.states.map(({ status }) => status)).toEqual(['scored', 'pending'])
    expect(again.fold.states[1]!.chosen).toMatchObject({ id: 'attempt-1', verdict: { pending: 'group' } })
    // Longer than what was lost, so that the place of the lost one is taken.
    for (const id of ['more', 'and-more']) again.journal.appendAttempt(entry(0, { id }))
    await again.journal.close()
    expect(await statuses(dir)).toEqual(['scored', 'pending'])

    const third = await Journal.open(dir)
    const { line, part } = laterVerdict(1, 0.75)
    third.journal.appendVerdict(line, part)
    await third.journal.close()
    expect((await foldRun(dir)).states[1]!.chosen?.verdict?.reward).toBe(0.75)
    const before = contents(dir)
    await (await Journal.open(dir)).journal.close()
    expect(contents(dir)).toEqual(before)
  })

  test('NUL bytes as a power loss leaves them, at the end of every file', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    for (const file of Object.values(runFiles)) {
      if (file !== runFiles.blobs) appendFileSync(join(dir, file), Buffer.alloc(5_000))
    }
    expect(await statuses(dir)).toEqual(['scored', 'scored', 'scored'])
    const { journal, fold } = await Journal.open(dir)
    expect(fold.states.map(({ chosen }) => chosen?.id)).toEqual(['attempt-0', 'attempt-1', 'attempt-2'])
    await journal.appendOrders([order(3)])
    journal.appendAttempt(entry(3))
    await journal.close()
    const after = await foldRun(dir)
    expect(after.states.map(({ chosen }) => chosen?.id)[3]).toBe('attempt-3')
    expect(await takeUp(dir)).toEqual(['attempt-0', 'attempt-1', 'attempt-2', 'attempt-3'])
  })

  test('parts of the right length that are all NUL, of more attempts than a few, are found', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 600)
    const path = join(dir, runFiles.private)
    const size = statSync(path).size
    const file = await open(path, 'r+')
    const from = Math.floor(size / 4)
    await file.write(Buffer.alloc(size - from), 0, size - from, from)
    await file.close()
    const { journal, fold } = await Journal.open(dir)
    await journal.close()
    const kept = fold.states.filter(({ status }) => status === 'scored')
    expect(kept.length).toBeGreaterThan(100)
    expect(kept.length).toBeLessThan(160)
    for (const { chosen } of kept) expect(await readPrivate(dir, chosen!)).toBeDefined()
  })

  test('lines that stand there twice count once', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    for (const file of [runFiles.orders, runFiles.attempts]) {
      const text = readFileSync(join(dir, file), 'utf8')
      appendFileSync(join(dir, file), text)
    }
    let projected = 0
    const { states, issues } = await foldRun(dir, (attempt: AttemptRecord) => {
      projected++
      return attempt
    })
    expect(states.map(({ status, tries }) => [status, tries])).toEqual(Array(3).fill(['scored', 1]))
    expect(projected).toBe(3)
    expect(issues.map(({ what }) => what)).toEqual(Array(3).fill('duplicate'))
    expect(await takeUp(dir)).toEqual(['attempt-0', 'attempt-1', 'attempt-2'])
  })

  test('attempts come back with their orders when a lost plan is made again', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 3)
    const path = join(dir, runFiles.orders)
    const lines = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, lines.slice(0, 3).join('\n'))
    const { journal, fold } = await Journal.open(dir)
    expect(fold.states).toHaveLength(1)
    expect(fold.issues.filter(({ what }) => what === 'orphan')).toHaveLength(2)
    await journal.appendOrders([order(1), order(2)])
    await journal.close()
    expect(await idsOf(dir)).toEqual(['attempt-0', 'attempt-1', 'attempt-2'])
  })

  test('a folder that was copied half-way', async () => {
    const source = temporaryFolder()
    await writeRun(source, 4)
    const files = readdirSync(source, { recursive: true, withFileTypes: true })
      .filter((found) => found.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(source.length + 1))
    for (const missing of files) {
      const dir = temporaryFolder()
      cpSync(source, dir, { recursive: true })
      rmSync(join(dir, missing))
      const fold = await foldRun(dir)
      const counted = fold.states.filter(({ status }) => status === 'scored').length
      // The manifest has a copy; all others are needed for an attempt to count.
      expect(counted, missing).toBe(missing === runFiles.manifest ? 4 : 0)
      const { journal } = await Journal.open(dir)
      if (missing === runFiles.orders) await journal.appendOrders([request, ...[0, 1, 2, 3].map(order)])
      await journal.close()
      const after = await takeUp(dir)
      const kept = missing === runFiles.manifest || missing === runFiles.orders
      expect(after, missing).toEqual([0, 1, 2, 3].map((seq) => (kept ? `attempt-${seq}` : `again-${seq}`)))
    }
  })
})

describe('a disk that fails', () => {
  const root = process.getuid?.() === 0 && process.platform === 'linux'
  /** A disk of so many KiB, or undefined where none may be mounted. */
  function smallDisk(kib: number): { dir: string; unmount(): void } | undefined {
    if (!root) return undefined
    const dir = temporaryFolder()
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', dir], { stdio: 'ignore' })
    } catch {
      return undefined
    }
    return { dir, unmount: () => execFileSync('umount', [dir]) }
  }

  test('that is full keeps what was recorded, says what to do, and goes on after there is room', async (context) => {
    const disk = smallDisk(256)
    if (disk === undefined) return context.skip('may not mount')
    try {
      const dir = join(disk.dir, 'run')
      const journal = await Journal.create(dir, manifest())
      await journal.appendOrders([request, ...Array.from({ length: 200 }, (_, seq) => order(seq))])
      const filler = 'x'.repeat(5_000)
      let flushed = 0
      const failure = await (async () => {
        for (let seq = 0; seq < 200; seq++) {
          journal.appendAttempt(entry(seq, { filler }))
          await journal.flush()
          flushed = seq + 1
        }
      })().catch((error: unknown) => error)
      expect(failure).toMatchObject({
        code: 'disk_full',
        message: expect.stringContaining('quintain resume'),
      })
      expect(() => journal.appendAttempt(entry(199))).toThrow(/full/)
      await expect(journal.ready()).rejects.toMatchObject({ code: 'disk_full' })
      await expect(journal.close()).rejects.toMatchObject({ code: 'disk_full' })
      expect(flushed).toBeGreaterThan(3)
      const { states, issues } = await foldRun(dir)
      expect(issues).toEqual([])
      expect(states.filter(({ status }) => status === 'scored')).toHaveLength(flushed)

      execFileSync('mount', ['-o', 'remount,size=8m', disk.dir])
      const again = await Journal.open(dir)
      for (let seq = flushed; seq < 200; seq++) again.journal.appendAttempt(entry(seq, { filler }))
      await again.journal.close()
      expect(await idsOf(dir)).toEqual(Array.from({ length: 200 }, (_, seq) => `attempt-${seq}`))
    } finally {
      disk.unmount()
    }
  })

  test('that has no room for all of what arrives together keeps the part that fits', async (context) => {
    const disk = smallDisk(256)
    if (disk === undefined) return context.skip('may not mount')
    try {
      const dir = join(disk.dir, 'run')
      const journal = await Journal.create(dir, manifest())
      await journal.appendOrders(Array.from({ length: 60 }, (_, seq) => order(seq)))
      for (let seq = 0; seq < 60; seq++) journal.appendAttempt(entry(seq, { filler: 'x'.repeat(5_000) }))
      await expect(journal.close()).rejects.toMatchObject({ code: 'disk_full' })
      const { states, issues } = await foldRun(dir)
      expect(issues).toEqual([])
      const kept = states.filter(({ status }) => status === 'scored')
      expect(kept.length).toBeGreaterThan(20)
      expect(kept.length).toBeLessThan(60)
      expect(kept.map(({ order: one }) => one.seq)).toEqual(kept.map((_, seq) => seq))
      for (const { chosen } of kept) expect((await readTrajectory(dir, chosen!)).attempt).toBe(chosen!.id)
    } finally {
      disk.unmount()
    }
  })

  test('that is full from the start gives a typed error at every step of making a run', async (context) => {
    const disk = smallDisk(64)
    if (disk === undefined) return context.skip('may not mount')
    try {
      const ballast = join(disk.dir, 'ballast')
      for (const room of [0, 1, 2, 3, 4]) {
        rmSync(ballast, { force: true })
        rmSync(join(disk.dir, 'run'), { recursive: true, force: true })
        try {
          for (;;) appendFileSync(ballast, Buffer.alloc(4_096))
        } catch {
          const size = statSync(ballast).size
          truncateSync(ballast, Math.max(0, Math.floor(size / 4_096) - room) * 4_096)
        }
        const made = await Journal.create(join(disk.dir, 'run'), manifest()).catch((error: unknown) => error)
        if (made instanceof Journal) await made.close()
        else expect(made).toMatchObject({ code: 'disk_full' })
        // With room again the same folder can be used: made anew, or taken up where its plan began.
        rmSync(ballast)
        const next = await Journal.create(join(disk.dir, 'run'), manifest()).catch(
          async (error: { code?: string }) => {
            expect(error.code).toBe('run_exists')
            return (await Journal.open(join(disk.dir, 'run'))).journal
          },
        )
        await next.appendOrders([order(0)])
        await next.close()
        expect((await foldRun(join(disk.dir, 'run'))).states).toHaveLength(1)
      }
    } finally {
      disk.unmount()
    }
  })

  test('that can only be read still gives reports, and refuses writers with a typed error', async (context) => {
    const disk = smallDisk(1_024)
    if (disk === undefined) return context.skip('may not mount')
    try {
      const dir = join(disk.dir, 'run')
      await writeRun(dir, 2)
      appendFileSync(join(dir, runFiles.attempts), '{"torn')
      execFileSync('mount', ['-o', 'remount,ro', disk.dir])
      expect(await statuses(dir)).toEqual(['scored', 'scored'])
      await expect(Journal.open(dir)).rejects.toMatchObject({ code: 'journal_io' })
      await expect(Journal.create(join(disk.dir, 'new'), manifest())).rejects.toMatchObject({
        code: 'journal_io',
      })
    } finally {
      disk.unmount()
    }
  })

  /** Lets `change` stand in for `writev` of every open file. */
  async function writevOf(change: (buffers: Uint8Array[]) => Uint8Array[] | Error) {
    const probe = await open(join(temporaryFolder(), 'probe'), 'w')
    const prototype = Object.getPrototypeOf(probe) as typeof probe
    await probe.close()
    const real = prototype.writev
    vi.spyOn(prototype, 'writev').mockImplementation(function (this: typeof probe, buffers, position) {
      const changed = change(buffers as unknown as Uint8Array[])
      return changed instanceof Error ? Promise.reject(changed) : real.call(this, changed, position)
    } as typeof real)
  }

  test('that writes less than it was given still gets everything, once', async () => {
    await writevOf((buffers) => [buffers[0]!.subarray(0, Math.ceil(buffers[0]!.byteLength / 3))])
    const dir = temporaryFolder()
    await writeRun(dir, 5)
    vi.restoreAllMocks()
    expect((await foldRun(dir)).issues).toEqual([])
    const { journal, fold } = await Journal.open(dir)
    await journal.close()
    expect(fold.states.map(({ chosen }) => chosen?.id)).toEqual(
      [0, 1, 2, 3, 4].map((seq) => `attempt-${seq}`),
    )
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'that fails at write %i leaves whole records, and a run that can be taken up',
    async (nth) => {
      const dir = temporaryFolder()
      const journal = await Journal.create(dir, manifest())
      await journal.appendOrders([order(0), order(1)])
      let writes = 0
      // Half of what was to be written arrives before the error, as on a disk that fills up.
      let half = false
      await writevOf((buffers) => {
        if (half) return Object.assign(new Error('i/o error'), { code: 'EIO', syscall: 'writev' })
        half = ++writes === nth
        return half ? [buffers[0]!.subarray(0, 10)] : buffers
      })
      const failure = await (async () => {
        for (const seq of [0, 1]) {
          journal.appendAttempt(entry(seq))
          await journal.flush()
        }
      })().catch((error: unknown) => error)
      await journal.close().catch(() => {})
      vi.restoreAllMocks()
      if (writes >= nth) expect(failure).toMatchObject({ code: 'journal_io' })
      for (const file of [runFiles.attempts, runFiles.trajectories, runFiles.verdicts, runFiles.private]) {
        const text = readFileSync(join(dir, file), 'utf8')
        expect(text === '' || text.endsWith('\n'), file).toBe(true)
      }
      const again = await Journal.open(dir)
      for (const { order: one, status } of again.fold.states) {
        if (status === 'pending') again.journal.appendAttempt(entry(one.seq))
      }
      await again.journal.close()
      expect(await statuses(dir)).toEqual(['scored', 'scored'])
    },
  )
})

describe('two processes', () => {
  test('on one run: the second is refused while the first lives, by whatever door', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    const { child, said } = writerProcess(dir)
    expect(await said).toBe('open')
    await expect(Journal.open(dir)).rejects.toMatchObject({
      code: 'run_locked',
      facts: { pid: child.pid },
      message: expect.stringContaining(String(child.pid)),
    })
    await expect(Journal.create(dir, manifest())).rejects.toMatchObject({ code: 'run_locked' })
    expect((await foldRun(dir)).states).toHaveLength(1)
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
    await (await Journal.open(dir)).journal.close()
    expect(readdirSync(dir).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  test('a writer that failed to open leaves the run free', async () => {
    const dir = temporaryFolder()
    await writeRun(dir, 1)
    writeFileSync(join(dir, runFiles.attempts), `${JSON.stringify({ schema: 'quintain.attempt', v: 9 })}\n`)
    await expect(Journal.open(dir)).rejects.toMatchObject({ code: 'run_too_new' })
    writeFileSync(join(dir, runFiles.attempts), '')
    await (await Journal.open(dir)).journal.close()
    expect(readdirSync(dir).filter((name) => name.startsWith('lock'))).toEqual([])
  })
})

test('a verdict that says the fault is over takes it away; one that is silent on it does not', async () => {
  const dir = temporaryFolder()
  const journal = await Journal.create(dir, manifest())
  await journal.appendOrders([order(0)])
  journal.appendAttempt(entry(0, { reward: null, pending: true }))
  const { line } = laterVerdict(0, 1)
  const fault = { owner: 'grader', stage: 'group', code: 'threw', message: 'm', retryable: true } as const
  journal.appendVerdict({ ...line, verdict: null, fault }, undefined)
  await journal.flush()
  expect(await statuses(dir)).toEqual(['faulted'])
  journal.appendVerdict({ ...line, verdict: summary(1) }, undefined)
  await journal.flush()
  expect(await statuses(dir)).toEqual(['faulted'])
  journal.appendVerdict({ ...line, verdict: summary(1), fault: null }, undefined)
  await journal.close()
  expect(await statuses(dir)).toEqual(['scored'])
})
