import { bwrapDriver, dockerDriver, podmanDriver, type SandboxDriver } from 'quintain/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sayMissing } from './available-drivers.ts'
import { boxSuite } from './box-suite.ts'
import { FakeEngine } from './fake-engine.ts'

// The contract with an engine, against one of ours, which needs bubblewrap for its commands.
const able = await bwrapDriver().available()
if (!able.available)
  sayMissing({ driver: dockerDriver(), missing: `the fake engine needs bubblewrap: ${able.reason}` })
const engine = new FakeEngine()

describe.skipIf(!able.available)('driver docker against an engine of ours', () => {
  const driver = dockerDriver({ socketPath: engine.socketPath })
  beforeAll(() => engine.start())
  afterAll(async () => {
    await driver.close?.()
    expect(engine.containers.size).toBe(0)
    await engine.stop()
  })
  // Our engine has one user, no quota, and an archiver that is given names as text.
  boxSuite(driver, {
    disk: true,
    signals: true,
    readOnlyFiles: true,
    bytes: true,
    still: true,
    modes: true,
    partial: true,
  })

  it('asks for a container that holds', async () => {
    const box = await driver.start({
      env: { KEY: 'sk-canary-1' },
      label: 'attempt 1',
      limits: { memoryMb: 256, pids: 10 },
      network: { sockets: [{ box: { path: '/run/gateway.sock' }, host: { path: '/tmp/g.sock' } }] },
      mounts: [{ source: '/data', target: '/data' }],
    })
    await box.exec('true')
    const created = engine.asked.filter(({ path }) => path === '/containers/create').at(-1)!
    expect(JSON.parse(created.body)).toMatchObject({
      Image: 'debian:stable-slim',
      User: '1000:1000',
      NetworkDisabled: true,
      Env: [],
      HostConfig: {
        AutoRemove: true,
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Memory: 256 * 2 ** 20,
        MemorySwap: 256 * 2 ** 20,
        PidsLimit: 12,
        Mounts: [
          { Type: 'bind', Source: '/data', Target: '/data', ReadOnly: true },
          { Type: 'bind', Source: '/tmp/g.sock', Target: '/run/gateway.sock', ReadOnly: true },
        ],
      },
    })
    // A variable is seen by the commands of the box and by nobody who lists containers.
    expect(created.body).not.toContain('sk-canary-1')
    await box.stop()
  })

  it('says what is missing, and never pulls', async () => {
    const other = dockerDriver({ socketPath: engine.socketPath, image: 'no/such:1' })
    expect(await other.available()).toMatchObject({
      available: false,
      reason: expect.stringContaining('docker pull no/such:1'),
    })
    const failed = other.start()
    await expect(failed).rejects.toMatchObject({ fault: { owner: 'sandbox', code: 'sandbox_start_failed' } })
    expect(engine.asked.some(({ path }) => path.startsWith('/images/create'))).toBe(false)
    const nobody = dockerDriver({ socketPath: '/no/such.sock' })
    expect(await nobody.available()).toMatchObject({ available: false })
    await expect(nobody.start()).rejects.toMatchObject({ fault: { owner: 'sandbox', retryable: true } })
    await expect(
      driver.start({ network: { sockets: [{ box: { port: 8080 }, host: { port: 1 } }] } }),
    ).rejects.toMatchObject({ code: 'options_invalid' })
  })

  it('tells a container that is gone from a file that is missing', async () => {
    const box = await driver.start()
    expect(await box.read('nothing')).toMatchObject({ ok: false, reason: 'missing' })
    engine.containers.clear()
    await expect(box.read('nothing')).rejects.toMatchObject({ fault: { code: 'sandbox_lost' } })
    await expect(box.exec('true')).rejects.toMatchObject({ fault: { code: 'sandbox_lost', retryable: true } })
    await box.stop()
  })

  it('is not lost by what fills it or cannot be ended in it', async () => {
    const box = await driver.start({ files: { left: 'x' } })
    try {
      engine.execRefusal = 'OCI runtime exec failed: exec failed: unable to start container process'
      expect(await box.exec('true')).toMatchObject({ exitCode: null, notStarted: 'no_process' })
      engine.execRefusal = 'something else'
      await expect(box.exec('true')).rejects.toMatchObject({ fault: { code: 'sandbox_io' } })
      engine.execRefusal = undefined
      expect(await box.exec('cat left')).toMatchObject({ stdout: 'x' })
      engine.undying = true
      expect(await box.exec('sleep 60', { wallMs: 100 })).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
      expect(await box.exec('true')).toMatchObject({ notStarted: 'no_process' })
      expect(await box.read('left')).toMatchObject({ ok: false, reason: 'missing' })
      expect((await box.snapshot()).skipped).toEqual([{ path: '/box', reason: 'missing' }])
    } finally {
      engine.execRefusal = undefined
      engine.undying = false
      await box.stop()
    }
  })

  it('removes the containers of processes that are gone, and of nobody else', async () => {
    const box = await driver.start()
    const [id] = [...engine.containers.keys()]
    const mine = engine.containers.get(id!)!
    const labels = mine.config['Labels'] as Record<string, string>
    const [host] = labels['quintain.owner']!.split(' ')
    const plant = (name: string, owner: string) =>
      engine.containers.set(name, {
        ...mine,
        root: `${mine.root}-${name}`,
        children: new Set(),
        config: { Labels: { ...labels, 'quintain.owner': owner } },
      })
    plant('dead', `${host} 4194304 1`)
    plant('recycled', `${host} ${process.pid} 1`)
    plant('elsewhere', 'another-machine 4194304 1')
    expect(await driver.sweep?.()).toBe(2)
    expect([...engine.containers.keys()].sort()).toEqual([id!, 'elsewhere'].sort())
    engine.containers.delete('elsewhere')
    await box.stop()
  })
})

const real: SandboxDriver[] = [dockerDriver(), podmanDriver()]
const engines = await Promise.all(
  real.map(async (driver) => {
    const found = await driver.available()
    return { driver, ...(found.available ? {} : { missing: found.reason }) }
  }),
)
engines.forEach(sayMissing)

describe.each(engines)('driver $driver.name', ({ driver, missing }) => {
  describe.skipIf(missing !== undefined)(missing ?? 'a container', () => {
    afterAll(() => driver.close?.())
    boxSuite(driver, { disk: true, signals: true, still: true, modes: true, partial: true })
  })
})
