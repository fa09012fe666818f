// What agents run, or are talked into running. Nothing of it may hang, crash or fill us; each is a value.
import { type Box, type BoxOptions, bwrapDriver, processDriver } from 'quintain/sandbox'
import { afterEach, describe, expect, it } from 'vitest'
import { type Candidate, sayMissing } from './available-drivers.ts'

const drivers = await Promise.all(
  [bwrapDriver(), processDriver()].map(async (driver): Promise<Candidate> => {
    const available = await driver.available()
    return available.available ? { driver } : { driver, missing: available.reason }
  }),
)
drivers.forEach(sayMissing)

describe.each(drivers)('commands that misbehave, in $driver.name', ({ driver, missing }) => {
  describe.skipIf(missing !== undefined)(missing ?? 'a box', () => {
    const open = new Set<Box>()
    const start = async (options?: BoxOptions) => {
      const box = await driver.start(options)
      open.add(box)
      return box
    }
    afterEach(async () => {
      await Promise.all([...open].map((box) => box.stop()))
      open.clear()
    })
    const alive = async (box: Box) =>
      expect((await box.exec('echo alive', { cwd: '/' })).stdout).toBe('alive\n')

    it('prints a gigabyte', async () => {
      const before = process.memoryUsage.rss()
      // A gigabyte through a pipe takes a busy machine longer than a command has by default.
      const box = await start({ limits: { wallMs: 150_000 } })
      const result = await box.exec('head -c 1000000000 /dev/zero')
      expect(result.written.stdout).toBe(1_000_000_000)
      expect(result.stdout.length).toBeLessThan(300_000)
      expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 2 ** 20)
    })

    it('prints without end until its time is up', async () => {
      const box = await start()
      const result = await box.exec('yes & yes >&2', { wallMs: 300 })
      expect(result).toMatchObject({ timedOut: true, truncated: { stdout: true, stderr: true } })
      await alive(box)
    })

    it('deletes its working directory', async () => {
      const box = await start()
      await box.exec('rm -rf "$PWD"; pwd; ls')
      expect(await box.exec('echo x')).toMatchObject({ notStarted: 'no_folder' })
      expect(await box.list('.')).toMatchObject({ ok: false, reason: 'missing' })
      expect((await box.snapshot()).skipped).toMatchObject([{ reason: 'missing' }])
      expect(await box.write('again', 'x')).toEqual({ ok: true })
      await alive(box)
    })

    it('makes a file, a link or a pipe of its working directory', async () => {
      const box = await start()
      for (const instead of ['touch', 'ln -s /nowhere', 'mkfifo']) {
        await box.exec(`rm -rf ${box.workdir}; ${instead} ${box.workdir}`, { cwd: '/' })
        expect(await box.exec('echo x')).toMatchObject({ notStarted: 'no_folder' })
        expect(await box.read('x')).toMatchObject({ ok: false })
        expect(await box.write('x', 'y')).toMatchObject({ ok: false })
      }
      await alive(box)
    })

    it('closes its output, and goes on', async () => {
      const box = await start()
      const result = await box.exec('echo before; exec >&- 2>&-; echo lost; sleep 0.2; exit 5')
      expect(result).toMatchObject({ exitCode: 5, stdout: 'before\n' })
    })

    it('closes its input unread, however much there is', async () => {
      const box = await start()
      const result = await box.exec('exec <&-; echo done', { stdin: 'x'.repeat(3_000_000) })
      expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n' })
      await alive(box)
    })

    it('is the parent of zombies', async () => {
      const box = await start()
      const result = await box.exec(
        "perl -e 'for (1..50) { exit unless fork } select undef, undef, undef, 0.2; print `ps -e -o stat` =~ tr/Z//'",
      )
      expect(Number(result.stdout)).toBeGreaterThan(0)
      await alive(box)
      const left = await box.exec(
        "for i in 1 2 3 4 5; do sleep 0.1; done; ps -e -o stat= -o sid= | grep -c '^Z'",
      )
      if (driver.name === 'bwrap') expect(left.stdout).toBe('0\n')
    })

    it('takes /tmp away', async () => {
      const box = await start()
      if (driver.name === 'bwrap')
        await box.exec('rm -rf /tmp /var /run /home; ln -s /proc /tmp; mkdir /run || true')
      else await box.exec('rm -rf "$TMPDIR"; ln -s /proc "$TMPDIR"')
      expect(await box.write('/tmp/x', 'y')).toMatchObject({ ok: false })
      expect(await box.write('fine', 'y')).toEqual({ ok: true })
      await alive(box)
    })

    it('asks for more arguments than there may be', async () => {
      const box = await start()
      expect(await box.exec('x'.repeat(3_000_000))).toMatchObject({ exitCode: null, notStarted: 'too_long' })
      const many = await box.exec(['echo', ...Array.from({ length: 200_000 }, () => 'argument')])
      expect(many.notStarted).toBe('too_long')
      expect((await box.exec('echo $(seq 1 400000) | wc -w')).stdout.trim()).toBe('400000')
      const inner = await box.exec('/bin/echo $(seq 1 600000)')
      expect(inner.stderr).toMatch(/too long/)
      await alive(box)
    })

    it('uses names with every byte, and paths that are too long', async () => {
      const box = await start()
      await box.exec(
        `mkdir -- $'new\\nline' $'tab\\t' ' ' '-rf' $'\\e[2J' '$(touch pwned).json' "'"; ` +
          `d=$(printf 'd%.0s' $(seq 200)); for i in $(seq 40); do mkdir $d && cd $d || break; done; touch deepest`,
      )
      const listed = await box.list('.')
      expect(listed.ok && listed.entries.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['new\nline', 'tab\t', ' ', '-rf', '\u001b[2J', '$(touch pwned).json', "'"]),
      )
      const snapshot = await box.snapshot()
      expect(snapshot.skipped.map(({ reason }) => reason)).toContain('too_large')
      expect(snapshot.entries.some(({ path }) => path.endsWith('/pwned'))).toBe(false)
      expect(await box.read(`${'a/'.repeat(3_000)}x`)).toMatchObject({ ok: false })
      expect(await box.write('n'.repeat(300), 'x')).toMatchObject({ ok: false, reason: 'too_large' })
    })

    it('changes files while they are read', async () => {
      const box = await start()
      await box.exec(
        '(for i in $(seq 300); do rm -rf t; ln -s /etc t; rm -f t; mkdir t; echo x > t/passwd; head -c $((i * 500)) /dev/zero > grow; done) >/dev/null 2>&1 &',
      )
      for (let i = 0; i < 40; i++) {
        const result = await box.read('t/passwd')
        if (result.ok) expect(Buffer.from(result.data).toString()).toMatch(/^(x\n)?$/)
        await box.snapshot()
      }
    })

    // Without limits of its own it would be ours that it eats.
    it.skipIf(driver.isolation === 'none')('forks without end', async () => {
      const box = await start({ limits: { pids: 40 } })
      const bomb = await box.exec('f() { f | f & f; }; f', { wallMs: 700 })
      expect(bomb.exitCode !== 0 || bomb.timedOut).toBe(true)
      // Whatever of it got away into other sessions is still held by the limit; and it cannot stop us.
      await box.exec("perl -e 'while (1) { if (!fork) { syscall(112); } }'", { wallMs: 700 })
      const next = await box.exec('echo still', { wallMs: 5_000 })
      expect(next.stdout === 'still\n' || next.notStarted === 'no_process' || next.exitCode !== 0).toBe(true)
      expect(await box.write('x', 'y')).toEqual({ ok: true })
      await box.stop()
    })
  })
})
