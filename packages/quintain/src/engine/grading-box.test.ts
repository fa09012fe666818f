import { describe, expect, test } from 'vitest'
import {
  type Box,
  type BoxOptions,
  environment,
  FaultError,
  type SandboxDriver,
  type Snapshot,
} from '../core/index.ts'
import { FakeBoxes } from './__fixtures__/fake-boxes.ts'
import { recorded } from './__fixtures__/recorded.ts'
import { describeArtefacts } from './artefacts.ts'
import { startGradingBox } from './grading-box.ts'

const data = Buffer.from('x')
const artefacts: Snapshot = {
  version: 1,
  entries: [
    { kind: 'folder', path: '/box', mode: 0o755 },
    { kind: 'file', path: '/box/a', mode: 0o644, data },
    { kind: 'file', path: '/box/b', mode: 0o644, data },
  ],
  skipped: [],
}

/** Boxes into which the named files cannot be put, as read-only ones or otherwise. */
class PickyBoxes implements SandboxDriver {
  readonly name = 'picky'
  readonly isolation = 'namespaces'
  readonly inner = new FakeBoxes()
  private readonly refused: ReadonlySet<string>
  private readonly thrown: Error | undefined

  constructor(refused: readonly string[], thrown?: Error) {
    this.refused = new Set(refused)
    this.thrown = thrown
  }

  available() {
    return this.inner.available()
  }

  async start(options: BoxOptions): Promise<Box> {
    if (Object.keys(options.readOnlyFiles ?? {}).some((path) => this.refused.has(path)))
      throw this.thrown ?? sandboxFault('sandbox_start_failed')
    const box = await this.inner.start(options)
    const restore: Box['restore'] = async ({ entries }) => {
      for (const entry of entries)
        if (entry.kind === 'file' && !this.refused.has(entry.path)) await box.write(entry.path, entry.data)
      return { ok: false, reason: 'too_large', message: 'no' }
    }
    return Object.assign(box, { restore })
  }
}

function sandboxFault(code: string): FaultError {
  return new FaultError({ owner: 'sandbox', code, message: 'no', retryable: true })
}

describe('a grading box', () => {
  test('comes up with what can be put into it, whatever the rest is', async () => {
    const driver = new PickyBoxes(['/box/b'])
    const start = await startGradingBox(
      driver,
      { readOnlyFiles: { '/tests/t': 'x' } },
      artefacts,
      'read-only',
    )
    // The folder too: this driver has none.
    expect(start).toMatchObject({ artefacts: 'writable', notRestored: 2 })
    expect(await start.box.read('/box/a')).toMatchObject({ ok: true })
    expect(await start.box.read('/tests/t')).toMatchObject({ ok: true })
  })

  test('that does not come up without them either is the fault that it is', async () => {
    const driver = new PickyBoxes(['/tests/t'])
    const given = { readOnlyFiles: { '/tests/t': 'x' } }
    await expect(startGradingBox(driver, given, artefacts, 'read-only')).rejects.toMatchObject({
      fault: { code: 'sandbox_start_failed' },
    })
    const lost = new PickyBoxes(['/box/a'], sandboxFault('sandbox_lost'))
    await expect(startGradingBox(lost, {}, artefacts, 'read-only')).rejects.toMatchObject({
      fault: { code: 'sandbox_lost' },
    })
    expect([driver.inner.open, lost.inner.open]).toEqual([0, 0])
  })

  test('has room for them beside what graders may use', async () => {
    const driver = new FakeBoxes()
    const large = {
      ...artefacts,
      entries: [{ kind: 'file' as const, path: '/box/l', mode: 0o644, data: Buffer.alloc(2 ** 20) }],
    }
    await startGradingBox(driver, { limits: { diskMb: 8 } }, large, 'read-only')
    await startGradingBox(driver, { limits: { diskMb: 8 } }, large, 'none')
    await startGradingBox(driver, {}, large, 'writable')
    expect(driver.started.map(({ limits }) => limits?.diskMb)).toEqual([10, 8, 514])
  })
})

test('what is told of artefacts is what graders get', () => {
  const { entries, skipped } = describeArtefacts({
    ...artefacts,
    entries: [...artefacts.entries, { kind: 'link', path: '/box/l', target: '/etc/passwd' }],
    skipped: [{ path: '/box/s', reason: 'denied' }],
  })
  expect(entries.map(({ path }) => path)).toEqual(['/box', '/box/a', '/box/b'])
  expect(skipped).toEqual([
    { path: '/box/s', reason: 'denied' },
    { path: '/box/l', reason: 'outside' },
  ])
})

test('an attempt says what graders did not get, and its reward how they got the rest', async () => {
  const told: unknown[] = []
  const env = environment({
    tasks: [{ id: 'a', prompt: 'go' }],
    sandbox: { artefacts: ['/box'] },
    async world(_task, { sandbox }) {
      await sandbox.start({ files: { a: 'x', b: 'x' } })
      return { reply: () => ({ content: 'ok', done: 'over' }), finish: () => null }
    },
    rewards: {
      seen: async ({ sandbox }) => {
        const box = await sandbox.start()
        told.push(box.artefacts, sandbox.wallMs, (await box.read('/box/a')).ok, (await box.read('/box/b')).ok)
        return 0
      },
    },
    policies: {
      *speak() {
        yield 'hello'
      },
    },
  })
  const run = await recorded(
    env,
    { policy: 'script:speak' },
    { sandbox: new PickyBoxes(['/box/b']), limits: { grade: '1m' } },
  )
  expect([run.only.fault, run.only.verdict?.reward, told]).toEqual([
    null,
    0,
    ['writable', 60_000, true, false],
  ])
  expect(run.only.counts.flags).toEqual({ artefacts_not_restored: 1 })
})
