import type { Box, BoxOptions, SandboxDriver } from 'quintain/sandbox'
import { afterEach, expect, it } from 'vitest'

/** What a driver leaves to others; everything else every driver does. */
export interface Lacks {
  /** Real processes: signals, background, descriptors. */
  processes?: boolean
  /** Bytes that are no UTF-8, in output and names. */
  bytes?: boolean
  /** Files that nothing in the box can change. */
  readOnlyFiles?: boolean
  /** The name of the signal that ended a command. */
  signals?: boolean
  /** A limit of what is written to the disk. */
  disk?: boolean
  /** Ending everything before a snapshot. */
  still?: boolean
  /** The mode of folders. */
  modes?: boolean
  /** Restoring what can be restored where something cannot. */
  partial?: boolean
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8')

/** The behaviour that every driver has in common; called inside a `describe`. */
export function boxSuite(driver: SandboxDriver, lacks: Lacks = {}): void {
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
  const read = async (box: Box, path: string) => {
    const result = await box.read(path)
    return result.ok ? text(result.data) : result.reason
  }

  it('runs a command and says how it ended', async () => {
    const box = await start()
    expect(box).toMatchObject({ driver: driver.name, isolation: driver.isolation })
    const result = await box.exec('echo out; echo err >&2; exit 3')
    expect(result).toMatchObject({
      exitCode: 3,
      signal: null,
      timedOut: false,
      aborted: false,
      stdout: 'out\n',
      stderr: 'err\n',
      written: { stdout: 4, stderr: 4 },
      truncated: { stdout: false, stderr: false },
    })
    expect(result.durationMs).toBeGreaterThan(0)
    expect(result).not.toHaveProperty('notStarted')
    expect(result).not.toHaveProperty('stdoutBytes')
  })

  it('is plain data that a message can carry', async () => {
    const box = await start({ files: { a: 'x' } })
    const result = await box.exec('echo hi', { binary: true })
    expect(structuredClone(result)).toEqual(result)
    const snapshot = await box.snapshot()
    expect(structuredClone(snapshot)).toEqual(snapshot)
  })

  it('hands a list of arguments on as it is', async () => {
    const box = await start()
    const odd = ['a b', '$HOME', "it's", '"', '\\', '`id`', '$(id)', '*', '', 'é', '-n', '\n']
    const result = await box.exec(['printf', '[%s]', ...odd])
    expect(result.stdout).toBe(odd.map((word) => `[${word}]`).join(''))
  })

  it('says why a command never started', async () => {
    const box = await start()
    expect(await box.exec(['no-such-program'])).toMatchObject({ exitCode: null, notStarted: 'not_found' })
    expect(await box.exec('true', { cwd: 'no/such' })).toMatchObject({
      exitCode: null,
      notStarted: 'no_folder',
    })
    expect(await box.exec('echo a\0b')).toMatchObject({ notStarted: 'invalid' })
    expect(await box.exec([])).toMatchObject({ notStarted: 'invalid' })
    expect(await box.exec('no-such-program')).toMatchObject({ exitCode: 127 })
  })

  it('gives a command its input, its folder and its variables', async () => {
    const box = await start({ env: { DECLARED: 'of the box', TWICE: 'box' } })
    expect((await box.exec('cat', { stdin: 'given' })).stdout).toBe('given')
    expect((await box.exec('cat')).stdout).toBe('')
    await box.exec('mkdir -p deep/er')
    expect((await box.exec('pwd', { cwd: 'deep/er' })).stdout).toMatch(/\/box\/deep\/er\n$/)
    const own = await box.exec('echo "$DECLARED $TWICE $OWN"', {
      env: { OWN: 'of the command', TWICE: 'command' },
    })
    expect(own.stdout).toBe('of the box command of the command\n')
    expect((await box.exec('echo "$OWN$TWICE"')).stdout).toBe('box\n')
  })

  it('has no variable that nobody declared', async () => {
    process.env['QUINTAIN_TEST_CANARY'] = 'canary-5f1d'
    try {
      const box = await start({ env: { DECLARED: '1' } })
      const { stdout } = await box.exec(
        'env; cat /proc/self/environ 2>/dev/null; cat /proc/1/environ 2>/dev/null',
      )
      expect(stdout).toContain('DECLARED=1')
      // Without isolation everything of ours can be read, if one knows where.
      if (driver.isolation !== 'none') expect(stdout).not.toContain('canary-5f1d')
      const names = (await box.exec('env')).stdout.split('\n').map((line) => line.split('=')[0])
      expect(names).not.toContain('QUINTAIN_TEST_CANARY')
    } finally {
      delete process.env['QUINTAIN_TEST_CANARY']
    }
  })

  it('keeps files from one command to the next, and nothing else of the shell', async () => {
    const box = await start()
    await box.exec('echo kept > file; X=gone; cd /')
    expect((await box.exec('cat file; echo "[$X]"')).stdout).toBe('kept\n[]\n')
  })

  it('shares nothing with another box', async () => {
    const [one, two] = await Promise.all([start(), start()])
    await one!.exec('echo secret > /tmp/mine; echo secret > mine')
    const found = await two!.exec('ls; cat mine')
    expect(found.stdout + found.stderr).not.toContain('secret')
    expect(await read(two!, 'mine')).toBe('missing')
  })

  it('starts with the files it was given', async () => {
    const box = await start({
      files: {
        'plain.txt': 'text',
        'deep/er/bytes': new Uint8Array([104, 105]),
        'run.sh': { data: '#!/bin/sh\necho ran\n', mode: 0o755 },
        link: { link: 'plain.txt' },
      },
    })
    expect(await read(box, 'plain.txt')).toBe('text')
    expect(await read(box, 'deep/er/bytes')).toBe('hi')
    expect(await read(box, 'link')).toBe('text')
    expect((await box.exec('cat link; readlink link')).stdout).toBe('textplain.txt\n')
    if (!lacks.processes) expect((await box.exec(['./run.sh'])).stdout).toBe('ran\n')
    expect(await box.list('.')).toMatchObject({
      ok: true,
      entries: [
        { name: 'deep', kind: 'folder' },
        { name: 'link', kind: 'link' },
        { name: 'plain.txt', kind: 'file', size: 4, mode: 0o644 },
        { name: 'run.sh', kind: 'file', mode: 0o755 },
      ],
    })
  })

  it('reads and writes files, and says no as a value', async () => {
    const box = await start({ files: { folder: { link: '.' }, 'a.txt': 'a' } })
    expect(await box.write('new/file', 'content', { mode: 0o600 })).toEqual({ ok: true })
    expect(await box.read('new/file')).toEqual({
      ok: true,
      data: new Uint8Array(Buffer.from('content')),
      mode: 0o600,
    })
    expect((await box.exec('cat new/file')).stdout).toBe('content')
    expect(await box.write('new/file', new Uint8Array([0, 255, 10]))).toEqual({ ok: true })
    const bytes = await box.read('new/file')
    expect(bytes).toMatchObject({ ok: true, data: new Uint8Array([0, 255, 10]) })
    expect(await read(box, 'missing')).toBe('missing')
    expect(await read(box, 'missing/deeper')).toBe('missing')
    expect(await read(box, 'a.txt/below')).toMatch(/missing|wrong_kind/)
    expect(await read(box, 'new')).toBe('wrong_kind')
    expect(await read(box, 'a\0b')).toBe('missing')
    expect(await box.read('a.txt', { maxBytes: 0 })).toMatchObject({
      ok: false,
      reason: 'too_large',
      message: expect.not.stringMatching(/ioctl/),
    })
    expect(await box.write('new', 'x')).toMatchObject({ ok: false, reason: 'wrong_kind' })
    expect(await box.write('a.txt/below', 'x')).toMatchObject({ ok: false })
    expect(await box.list('missing')).toMatchObject({ ok: false, reason: 'missing' })
    expect(await box.list('a.txt')).toMatchObject({ ok: false, reason: 'wrong_kind' })
  })

  it('carries a file of some size whole', async () => {
    const box = await start()
    const data = new Uint8Array(3_000_000).map((_, index) => (index * 31) % 251)
    expect(await box.write('large', data)).toEqual({ ok: true })
    const back = await box.read('large')
    expect(back.ok && Buffer.compare(back.data, data)).toBe(0)
    expect((await box.exec('wc -c < large')).stdout.trim()).toBe('3000000')
  })

  it('follows a link within its folder, and not out of it', async () => {
    const box = await start({
      files: {
        target: 'here',
        'sub/near': { link: '../target' },
        far: { link: '/etc/passwd' },
        up: { link: '../tmp/x' },
      },
    })
    await box.write('/tmp/x', 'elsewhere')
    expect(await read(box, 'sub/near')).toBe('here')
    expect(await read(box, '/tmp/x')).toBe('elsewhere')
    expect(await read(box, 'far')).toMatch(/outside|missing/)
    expect(await read(box, 'up')).toBe('outside')
  })

  it('replaces a link that stands in the way of a file, and does not follow it', async () => {
    const box = await start({ files: { target: 'untouched', out: { link: 'target' } } })
    expect(await box.write('out', 'new')).toEqual({ ok: true })
    expect(await read(box, 'target')).toBe('untouched')
    expect(await read(box, 'out')).toBe('new')
  })

  it('ends a command at its deadline, and goes on', async () => {
    const box = await start({ limits: { wallMs: 5_000 } })
    const result = await box.exec('echo begun; while true; do :; done', { wallMs: 250 })
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true, aborted: false })
    if (!lacks.processes) expect(result.stdout).toBe('begun\n')
    expect(result.durationMs).toBeGreaterThanOrEqual(240)
    expect((await box.exec('echo alive')).stdout).toBe('alive\n')
  })

  it('never lets a command have more than the box', async () => {
    const box = await start({ limits: { wallMs: 250, outputBytes: 10 } })
    expect(await box.exec('sleep 60', { wallMs: 60_000 })).toMatchObject({ timedOut: true })
    const { stdout, truncated } = await box.exec('printf 0123456789ABCDEF', { outputBytes: 1_000 })
    expect(truncated.stdout).toBe(true)
    expect(stdout).toBe('01234\n[... 6 bytes left out ...]\nBCDEF')
  })

  it('ends a command when its signal says so', async () => {
    const box = await start()
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 150)
    const result = await box.exec('while true; do :; done', { signal: controller.signal })
    expect(result).toMatchObject({ exitCode: null, aborted: true, timedOut: false })
    expect(await box.exec('echo no', { signal: controller.signal })).toMatchObject({
      aborted: true,
      stdout: '',
    })
    expect((await box.exec('echo alive')).stdout).toBe('alive\n')
  })

  it('keeps the first and the last of a long output', async () => {
    const box = await start({ limits: { outputBytes: 2_000 } })
    const { stdout, written, truncated, stdoutBytes } = await box.exec('seq 1 100000; seq 1 3 >&2', {
      binary: true,
    })
    expect(written.stdout).toBe(588_895)
    expect(truncated).toEqual({ stdout: true, stderr: false })
    expect(stdoutBytes).toHaveLength(2_000)
    expect(stdout).toMatch(
      /^1\n2\n3\n[\s\S]*\n\[\.\.\. 586895 bytes left out \.\.\.\]\n[\s\S]*\n99999\n100000\n$/,
    )
  })

  it('talks with a command while it runs, or refuses to', async () => {
    const box = await start()
    const command = ['sh', '-c', 'echo begun; while read -r word; do echo "you said $word"; done; echo over']
    if (box.talk === undefined || lacks.processes) {
      await expect(box.exec(command, { talk: 'it' })).rejects.toMatchObject({ code: 'options_invalid' })
      return
    }
    const running = box.exec(command, { talk: 'it', stdin: 'first\n' })
    const heard = async (input: string, until: string) => {
      let output = ''
      let ended = false
      for (let next = input; !output.includes(until) && !ended; next = '') {
        const said = await box.talk!('it', next)
        output += text(said.output)
        ended = said.ended
      }
      return { output, ended }
    }
    expect(await heard('', 'first\n')).toEqual({ output: 'begun\nyou said first\n', ended: false })
    expect(await heard('second\n', 'second\n')).toMatchObject({ output: 'you said second\n' })
    const large = 'x'.repeat(300_000)
    expect((await heard(`${large}\n`, 'xx\n')).output).toBe(`you said ${large}\n`)
    await box.exec(['sh', '-c', 'exit 0'], { talk: 'other' })
    expect((await box.talk('other')).ended).toBe(true)
    expect(await box.talk('nobody')).toMatchObject({ ended: true })
    const stopped = expect(running).rejects.toMatchObject({ fault: { code: 'sandbox_stopped' } })
    await box.stop()
    expect((await box.talk('it')).ended).toBe(true)
    await stopped
  })

  it('runs commands at the same time', async () => {
    const box = await start()
    const outputs = await Promise.all(
      Array.from({ length: 8 }, (_, index) => box.exec(`echo ${index}; echo e${index} >&2`)),
    )
    expect(outputs.map(({ stdout }) => stdout)).toEqual(outputs.map((_, index) => `${index}\n`))
    expect(outputs.map(({ stderr }) => stderr)).toEqual(outputs.map((_, index) => `e${index}\n`))
  })

  it('takes a snapshot and puts it into another box', async () => {
    const box = await start({
      files: {
        'a.txt': 'a',
        'sub/b': { data: 'b', mode: 0o750 },
        'sub/up': { link: '../a.txt' },
        'empty-not/x': '',
      },
    })
    await box.exec('mkdir empty; rm -r empty-not')
    const snapshot = await box.snapshot()
    expect(snapshot.skipped).toEqual([])
    expect(snapshot.entries.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'folder /box',
      'file /box/a.txt',
      'folder /box/empty',
      'folder /box/sub',
      'file /box/sub/b',
      'link /box/sub/up',
    ])
    const other = await start()
    expect(await other.restore(snapshot)).toEqual({ ok: true })
    expect((await other.snapshot()).entries).toEqual(snapshot.entries)
    expect(await other.restore(snapshot, { at: 'copy' })).toEqual({ ok: true })
    expect(await read(other, 'copy/box/sub/up')).toBe('a')
    const part = await box.snapshot(['sub', 'nothing'])
    expect(part.entries.map(({ path }) => path)).toEqual(['/box/sub', '/box/sub/b', '/box/sub/up'])
    expect(part.skipped).toEqual([{ path: '/box/nothing', reason: 'missing' }])
  })

  it('puts back whatever it has read, and goes on after what it cannot', async () => {
    const long = 'a'.repeat(255)
    const box = await start({
      files: { [`album/${long}`]: 'long', 'closed/file': 'in it', 'closed/deep/f': 'x' },
    })
    if (!lacks.processes) await box.exec('chmod 0500 closed/deep; chmod 0555 closed; ln closed/file again')
    const snapshot = await box.snapshot()
    expect(snapshot.skipped).toEqual([])
    expect(await box.write(`album/${long}`, 'longer')).toEqual({ ok: true })
    const other = await start({ files: { 'album/x': '' } })
    expect(await other.restore(snapshot)).toEqual({ ok: true })
    expect(await read(other, `album/${long}`)).toBe('long')
    expect(await read(other, 'closed/deep/f')).toBe('x')
    const folders = (entries: { kind: string; path: string }[]) =>
      entries.filter(({ kind, path }) => kind === 'folder' && path.includes('closed'))
    if (!lacks.modes) expect(folders((await other.snapshot()).entries)).toEqual(folders(snapshot.entries))
    if (!lacks.processes) {
      expect(await read(other, 'again')).toBe('in it')
      await other.exec('chmod -R u+w closed; rm -r closed; mkdir -p album2')
    }
    if (lacks.partial) return
    const odd = {
      version: 1 as const,
      skipped: [],
      entries: [
        { kind: 'file' as const, path: '/box/album', mode: 0o644, data: new Uint8Array() },
        { kind: 'file' as const, path: '/box/after', mode: 0o644, data: new Uint8Array([104]) },
      ],
    }
    expect(await other.restore(odd)).toMatchObject({ ok: false, reason: 'wrong_kind' })
    expect(await read(other, 'after')).toBe('h')
  })

  it('leaves out of a snapshot what is too much, and says so', async () => {
    const box = await start({ files: { a: 'x'.repeat(100), b: 'x'.repeat(1_000), c: 'x' } })
    const small = await box.snapshot(['.'], { maxBytes: 500 })
    expect(small.entries.map(({ path }) => path)).toEqual(['/box', '/box/a', '/box/c'])
    expect(small.skipped).toEqual([{ path: '/box/b', reason: 'too_large' }])
    const few = await box.snapshot(['.'], { maxEntries: 2 })
    expect(few.entries.map(({ path }) => path)).toEqual(['/box', '/box/a'])
    expect(few.skipped).toEqual([{ path: '/box/b', reason: 'too_large' }])
  })

  it('stops once and for all', async () => {
    const box = await driver.start()
    const running = box.exec('sleep 60')
    const rejected = expect(running).rejects.toMatchObject({
      fault: { owner: 'sandbox', code: 'sandbox_stopped' },
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await Promise.all([box.stop(), box.stop()])
    await rejected
    await expect(box.exec('true')).rejects.toMatchObject({
      fault: { code: 'sandbox_stopped', retryable: false },
    })
    await expect(box.read('x')).rejects.toMatchObject({
      fault: { owner: 'sandbox', code: 'sandbox_stopped' },
    })
    await box.stop()
  })

  it('refuses options that mean nothing', async () => {
    const invalid = { code: 'options_invalid' }
    await expect(start({ workdir: 'relative' })).rejects.toMatchObject(invalid)
    await expect(start({ limits: { wallMs: 0 } })).rejects.toMatchObject(invalid)
    await expect(start({ limits: { wallMs: Number.NaN } })).rejects.toMatchObject(invalid)
    await expect(start({ env: { 'A=B': '1' } })).rejects.toMatchObject(invalid)
    await expect(start({ env: { SECRET: 'sk-1\0' } })).rejects.toMatchObject(invalid)
    await expect(start({ env: { SECRET: 'sk-1\0' } })).rejects.not.toThrow(/sk-1/)
    await expect(start({ files: { '/': 'x' } })).rejects.toMatchObject(invalid)
    await expect(start({ fies: {} } as never)).rejects.toMatchObject(invalid)
    await expect(start({ network: 'host' } as never)).rejects.toMatchObject(invalid)
    const box = await start()
    await expect(box.exec('true', { env: { '': 'x' } })).rejects.toMatchObject(invalid)
  })

  it.skipIf(lacks.readOnlyFiles)('keeps read-only files as they are', async () => {
    const box = await start({
      readOnlyFiles: { '/tests/check.sh': { data: 'echo checked\n', mode: 0o755 }, '/tests/data/x': 'gold' },
    })
    expect(await read(box, '/tests/data/x')).toBe('gold')
    for (const attack of [
      'echo evil > /tests/check.sh',
      'rm -rf /tests',
      'mv /tests /old',
      'mv /tests/data /tests/d2',
      'mv /tests/check.sh /tests/other',
      'chmod -R 777 /tests; echo evil > /tests/check.sh',
      'ln -sf /box/evil /tests/check.sh',
      'cp /dev/null /tests/check.sh',
      'sed -i s/checked/evil/ /tests/check.sh',
      'touch /tests/new',
      ': > /tests/data/x',
      'tee /tests/check.sh < /dev/null',
    ])
      await box.exec(attack)
    expect(await box.write('/tests/check.sh', 'evil')).toMatchObject({ ok: false, reason: 'denied' })
    expect(await read(box, '/tests/check.sh')).toBe('echo checked\n')
    expect(await read(box, '/tests/data/x')).toBe('gold')
    expect(await read(box, '/tests/new')).toBe('missing')
    expect((await box.exec('bash /tests/check.sh')).stdout).toBe('checked\n')
    await expect(start({ readOnlyFiles: { 'in/box': 'x' } })).rejects.toMatchObject({
      code: 'options_invalid',
    })
  })

  it.skipIf(lacks.disk)('runs out of disk as a value', async () => {
    const box = await start({ limits: { diskMb: 4 } })
    const filled = await box.exec(
      'head -c 20000000 /dev/zero > big 2>/dev/null || for i in 1 2 3 4 5 6 7 8 9; do head -c 900000 /dev/zero > f$i; done; ls | wc -l',
    )
    expect(filled.exitCode === 0 || filled.exitCode === 1 || filled.stderr !== '').toBe(true)
    expect(await box.write('more', new Uint8Array(5_000_000))).toMatchObject({
      ok: false,
      reason: 'no_space',
    })
    await box.exec('rm -f big f*')
    expect(await box.write('more', new Uint8Array(1_000_000))).toEqual({ ok: true })
  })

  it.skipIf(lacks.bytes)('keeps bytes that are no text', async () => {
    const box = await start()
    const { stdoutBytes, stdout } = await box.exec("printf 'a\\377\\000b'", { binary: true })
    expect(stdoutBytes).toEqual(new Uint8Array([97, 255, 0, 98]))
    expect(stdout).toBe('a\ufffd\0b')
    const given = await box.exec('wc -c', { stdin: new Uint8Array([255, 254, 0, 10]) })
    expect(given.stdout.trim()).toBe('4')
    await box.exec("printf x > $'odd\\377name'")
    const listed = await box.list('.')
    expect(listed).toMatchObject({ ok: true, entries: [{ name: 'odd\udcffname' }] })
    expect(await read(box, 'odd\udcffname')).toBe('x')
    expect(await box.write('more\udc80', 'y')).toEqual({ ok: true })
    expect((await box.exec('ls | od -An -tx1 | tr -d " \\n"')).stdout).toContain('6d6f726580')
    const snapshot = await box.snapshot()
    const other = await start()
    await other.restore(snapshot)
    expect((await other.snapshot()).entries).toEqual(snapshot.entries)
  })

  it.skipIf(lacks.processes)('ends what runs for a snapshot that is to hold still', async () => {
    const box = await start()
    await box.exec('(while :; do echo x >> growing; done) >/dev/null 2>&1 &')
    const running = box.exec('sleep 1000')
    const size = async (still: boolean) =>
      (await box.snapshot(['growing'], { still })).entries.map(
        (entry) => 'data' in entry && entry.data.length,
      )
    const before = await size(true)
    if (lacks.still) {
      const over = expect(running).rejects.toBeDefined()
      await box.stop()
      return over
    }
    expect(await running).toMatchObject({ signal: 'SIGKILL', timedOut: false })
    expect(await size(false)).toEqual(before)
    expect((await box.exec('echo alive')).stdout).toBe('alive\n')
  })

  it.skipIf(lacks.processes)('leaves background processes alive until the box is stopped', async () => {
    const box = await start()
    const begun = await box.exec('(sleep 0.4; echo done > later) & echo started')
    expect(begun).toMatchObject({ exitCode: 0, stdout: 'started\n' })
    expect(begun.durationMs).toBeLessThan(10_000)
    expect(await read(box, 'later')).toBe('missing')
    await box.exec('for i in $(seq 100); do [ -f later ] && break; sleep 0.1; done')
    expect(await read(box, 'later')).toBe('done\n')
  })

  it.skipIf(lacks.processes || lacks.signals)('names the signal that ended a command', async () => {
    const box = await start()
    expect(await box.exec(['bash', '-c', 'kill -TERM $$'])).toMatchObject({
      exitCode: null,
      signal: 'SIGTERM',
    })
    expect(await box.exec('kill -SEGV $$')).toMatchObject({ signal: 'SIGSEGV' })
  })
}
