// Tries to leave a box, in every way that we know of. Each probe is a command; what it must not achieve is asserted.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Box, type BoxOptions, bwrapDriver } from 'quintain/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sayMissing } from './available-drivers.ts'

const driver = bwrapDriver()
const available = await driver.available()
if (!available.available) sayMissing({ driver, missing: available.reason })

const canary = `canary-${Math.random().toString(36).slice(2)}-${process.pid}`
const secretFolder = mkdtempSync(join(tmpdir(), 'quintain-probe-'))
const secretFile = join(secretFolder, 'secret.txt')

/** Processes of this machine whose command line holds a text. */
function processesSaying(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8')

function groups(): string[] {
  const found: string[] = []
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const folder = line.split(' ')[4]
    if (/ - cgroup2? /.test(line) && folder !== undefined) found.push(folder)
  }
  return found.flatMap((folder) => walk(folder, 6)).filter((path) => path.includes(`-${process.pid}-`))
}

function walk(folder: string, depth: number): string[] {
  if (depth === 0) return []
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [join(folder, name), ...walk(join(folder, name), depth - 1)])
  } catch {
    return []
  }
}

describe.skipIf(!available.available)('leaving a bwrap box', () => {
  const open = new Set<Box>()
  const start = async (options?: BoxOptions) => {
    const box = await driver.start(options)
    open.add(box)
    return box
  }
  /** Runs as the agent would, and gives all that came out. */
  const says = async (command: string, options?: BoxOptions) => {
    const box = await start({ limits: { wallMs: 20_000 }, ...options })
    const { stdout, stderr } = await box.exec(command)
    return stdout + stderr
  }

  beforeAll(() => {
    writeFileSync(secretFile, canary)
    process.env['QUINTAIN_CANARY'] = canary
  })
  afterEach(async () => {
    await Promise.all([...open].map((box) => box.stop()))
    open.clear()
  })
  afterAll(async () => {
    delete process.env['QUINTAIN_CANARY']
    rmSync(secretFolder, { recursive: true })
    await driver.close?.()
    expect(groups()).toEqual([])
  })

  it('sees no file of the host but the programs of the system', async () => {
    // The root of a process's own file system, as the kernel shows it.
    const [first, own] = ['1', 'self'].map((pid) => ['/proc', pid, 'root'].join('/'))
    const told = await says(
      `cat ${secretFile} /etc/shadow ${homedir()}/.bashrc ${import.meta.filename} ${first}/${secretFile} /proc/1/cwd/x ` +
        `${own}/${secretFile}; cat /..${secretFile} ../../../..${secretFile}; ls ${homedir()} ${dirname(homedir())} ${import.meta.dirname} /tmp /opt /srv /mnt /var; ` +
        'cat /etc/passwd /etc/hosts /etc/resolv.conf',
    )
    expect(told).not.toContain(canary)
    // Nor this very file, which the host holds.
    expect(told).not.toContain('sees no file of the host but')
    expect(told).not.toMatch(/root:.*:\/bin\/bash|postgres|quintain-probe-.*\.txt$/)
    const writable = await says(
      'find / -xdev -type f -not -path "/proc/*" -writable 2>/dev/null | head -50; touch /usr/bin/evil /lib/evil /etc/ssl/evil; ls /usr/bin/evil',
    )
    expect(writable).not.toMatch(/^\/usr\/bin\/evil$/m)
  })

  it('sees no process, environment or command line of the host', async () => {
    const told = await says(
      'for p in /proc/[0-9]*; do echo "$p $(tr "\\0" " " < $p/cmdline)"; cat $p/environ $p/maps $p/status 2>/dev/null | strings; done; cat /proc/*/task/*/environ; env; set',
      { env: { DECLARED: 'yes' } },
    )
    expect(told).not.toContain(canary)
    expect(told).not.toContain('vitest')
    expect(told).toContain('DECLARED=yes')
  })

  it('cannot see into, stop or trace its first process', async () => {
    const told = await says(
      'cat /proc/1/environ /proc/1/mem /proc/1/maps; ls -l /proc/1/fd /proc/1/root /proc/1/cwd; ' +
        'dd if=/proc/1/mem bs=1 count=1; kill -9 1; kill -STOP 1; kill -TERM 1; kill -9 -1; ' +
        'python3 -c "import ctypes; print(\\"ptrace\\", ctypes.CDLL(None).ptrace(16, 1, 0, 0))"',
    )
    expect(told).toMatch(/Permission denied/)
    expect(told).not.toMatch(/ptrace 0/)
    const box = await start()
    await box.exec('kill -9 1; kill -STOP 1; (trap "" TERM; kill -TERM 1)')
    expect(await box.exec('echo alive')).toMatchObject({ stdout: 'alive\n' })
  })

  it('has no network: not the host, not its loopback, no name, no raw or odd socket', async () => {
    const server = createServer((socket) => socket.end(`reached ${canary}`))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const { port } = server.address() as { port: number }
    const abstract = createServer((socket) => socket.end(`reached ${canary}`))
    await new Promise<void>((resolve) => abstract.listen(`\0quintain-${port}`, () => resolve()))
    try {
      const told = await says(
        `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; cat /proc/net/route; cat /proc/net/unix; getent hosts localhost; ` +
          'perl -e \'for my $f (1, 2, 10, 16, 17, 38, 40) { socket(my $s, $f, $f == 17 || $f == 16 ? 3 : 1, 0) ? print "family $f open\\n" : print "family $f: $!\\n" }\'; ' +
          `perl -e 'socket(my $s, 1, 1, 0); connect($s, pack("S a*", 1, "\\0quintain-${port}")) ? print "abstract reached\\n" : print "abstract: $!\\n"'; ` +
          'perl -e \'socket(my $s, 2, 1, 0); connect($s, pack("S n a4 x8", 2, 53, "\\x08\\x08\\x08\\x08")) ? print "internet reached\\n" : print "internet: $!\\n"\'',
      )
      expect(told).not.toContain(canary)
      expect(told).toMatch(/Connection refused/)
      expect(told).not.toContain('abstract reached')
      expect(told).toMatch(/internet: Network is unreachable/)
      for (const family of [17, 38, 40]) expect(told).not.toContain(`family ${family} open`)
      expect(told).not.toMatch(new RegExp(`quintain-${port}`))
    } finally {
      server.close()
      abstract.close()
    }
  })

  it('reaches what was relayed to it, and nothing else', async () => {
    const server = createServer((socket) =>
      socket.on('data', (chunk) => socket.end(`you said ${chunk.toString().trim()}\n`)),
    )
    const folder = mkdtempSync(join(tmpdir(), 'quintain-relay-'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const unix = createServer((socket) => socket.end('from the socket\n'))
    await new Promise<void>((resolve) => unix.listen(join(folder, 's'), () => resolve()))
    const { port } = server.address() as { port: number }
    try {
      const network = {
        sockets: [
          { box: { port: 8080 }, host: { port } },
          { box: { path: '/run/world.sock' }, host: { path: join(folder, 's') } },
          { box: { port: 8081 }, host: { port: 1 } },
        ],
      }
      const told = await says(
        'exec 3<>/dev/tcp/127.0.0.1/8080 && echo hello >&3 && cat <&3; ' +
          'perl -e \'socket(my $s, 1, 1, 0); connect($s, pack("S a*", 1, "/run/world.sock")) and print <$s>\'; ' +
          'exec 4<>/dev/tcp/127.0.0.1/8081 && cat <&4; echo "nobody there: $?"; ' +
          `exec 5<>/dev/tcp/127.0.0.1/${port} && cat <&5`,
        { network },
      )
      expect(told).toContain('you said hello')
      expect(told).toContain('from the socket')
      expect(told).toMatch(/nobody there: /)
      expect(told).toMatch(new RegExp(`${port}: Connection refused`))
    } finally {
      server.close()
      unix.close()
      rmSync(folder, { recursive: true })
    }
  })

  it('carries a large answer through a relay, both ways', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const { port } = server.address() as { port: number }
    try {
      const echo =
        'perl -e \'socket(my $s, 2, 1, 0); connect($s, pack("S n a4 x8", 2, 9009, "\\x7f\\0\\0\\1")) or die; ' +
        'if (fork) { my ($n, $b) = (0); $n += $_ while $_ = sysread $s, $b, 65536; print $n } else { select $s; $| = 1; print "x" x 5000000; shutdown $s, 1 }\''
      expect(await says(echo, { network: { sockets: [{ box: { port: 9009 }, host: { port } }] } })).toBe(
        '5000000',
      )
    } finally {
      server.close()
    }
  })

  it('gets no capability, no new privilege, no namespace and no mount', async () => {
    const told = await says(
      'grep -E "Cap|NoNewPrivs|Seccomp:" /proc/self/status; cp /usr/bin/id . && chmod u+s id && ./id -u; ' +
        'find / -xdev -perm -4000 2>/dev/null; su -c id; mount -t tmpfs x /mnt; umount /usr; unshare -U true; unshare -r id; ' +
        'unshare -m true; chroot / true; mknod dev b 8 0; ls -la dev; hostname evil; ' +
        'perl -e \'for (165, 272, 308, 248, 249, 250, 321, 298, 425, 438, 304, 175, 101, 310, 311) { syscall($_, 0, 0, 0, 0, 0); print "call $_: ", $!+0, "\\n" }\' ',
    )
    expect(told.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5)
    expect(told).toMatch(/NoNewPrivs:\t1/)
    expect(told).toMatch(/Seccomp:\t2/)
    expect(told).not.toMatch(/^0$/m)
    expect(told).not.toContain('uid=0')
    expect(told).not.toMatch(/^b/m)
    if (process.arch === 'x64') expect(told.match(/^call \d+: 1$/gm)).toHaveLength(15)
  })

  it('has no keyring, terminal or descriptor of ours', async () => {
    const told = await says(
      'ls -l /proc/self/fd; cat /proc/keys; cat /proc/key-users; (echo x > /dev/tty) 2>&1; tty; ls /dev; ' +
        'python3 -c "import fcntl; fcntl.ioctl(0, 0x5412, b\\"x\\")"; ps -o pid,sid,tty',
    )
    const descriptors = [...told.matchAll(/ (\d+) -> (\S+)/g)].map(
      ([, number, target]) => `${number} ${target}`,
    )
    // Input, output, errors, and the folder that ls itself reads.
    expect(descriptors.filter((line) => !/^[012] (\/dev\/null|pipe:)|^3 \/proc\//.test(line))).toEqual([])
    expect(told).toMatch(/not a tty/)
    expect(told).not.toMatch(/\b(sda|vda|nvme|kmsg|mem|kvm|fuse|loop0)\b/)
  })

  it('cannot turn what we read into a file of the host', async () => {
    const box = await start()
    symlinkSync('/etc/passwd', join(secretFolder, 'inner'))
    await box.exec(
      `ln -s ../../../../../../../..${secretFile} up; ln -s ${secretFile} abs; ln -s /usr/bin sys; ln -s /proc/1/root${secretFile} proc; ` +
        `ln -s ${secretFolder} dir; mkfifo pipe; ln -s loop loop; mkdir -p deep; ln -s /etc/shadow deep/shadow`,
    )
    for (const path of ['up', 'abs', 'proc', 'dir/secret.txt', 'dir/inner', 'deep/shadow', 'loop'])
      expect(await box.read(path)).toMatchObject({ ok: false })
    expect(await box.read('sys/true')).toMatchObject({ ok: false, reason: 'outside' })
    expect(await box.read('pipe')).toMatchObject({ ok: false, reason: 'wrong_kind' })
    expect(await box.read('/dev/zero')).toMatchObject({ ok: false, reason: 'wrong_kind' })
    const snapshot = await box.snapshot()
    expect(JSON.stringify(snapshot)).not.toContain(canary)
    expect(snapshot.entries.filter(({ kind }) => kind === 'link')).toHaveLength(7)
    expect(snapshot.skipped).toEqual([{ path: '/box/pipe', reason: 'wrong_kind' }])
    // Writing through a link stays inside: the host has no such file afterwards.
    await box.write('dir/planted', 'x')
    expect(readdirSync(secretFolder).sort()).toEqual(['inner', 'secret.txt'])
  })

  it('cannot have us read more names than we hold', async () => {
    const box = await start({ files: { '/box/z': 'last' } })
    // Names of 4 KB, and below them some that are too long for any call, which are told as well.
    const told = await box.exec(
      `name=$(printf %0250d 0); for i in {1..15}; do mkdir $name; cd $name; done
       for i in {1..4400}; do echo $i-\${name:5:190}; done | xargs touch
       mkdir -p ./$name/x && cd $name && for i in {1..4400}; do echo $i-\${name:5}; done | xargs touch; ls | wc -l`,
    )
    expect(told.stdout).toBe('4401\n')
    const { entries, skipped } = await box.snapshot()
    const bytes = [...entries, ...skipped].reduce((sum, { path }) => sum + Buffer.byteLength(path), 0)
    expect(bytes).toBeGreaterThan(15 * 2 ** 20)
    expect(bytes).toBeLessThan(16 * 2 ** 20 + 4_200)
    expect(skipped.at(-1)).toMatchObject({ reason: 'too_large' })
    expect(entries.map(({ path }) => path)).not.toContain('/box/z')
  })

  it('cannot outlive its box', async () => {
    const mark = `survivor${process.pid}`
    const box = await start()
    await box.exec(
      `(setsid bash -c 'exec -a ${mark} sleep 300' &) ; nohup bash -c 'exec -a ${mark} sleep 301' >/dev/null 2>&1 & ` +
        `python3 -c "import os,time; os.fork() or (os.setsid(), os.fork() or time.sleep(302))" ${mark} & disown -a; trap '' HUP TERM; exit 0`,
    )
    expect(processesSaying(mark).length).toBeGreaterThan(0)
    await box.stop()
    expect(processesSaying(mark)).toEqual([])
  })

  it('dies with the process that started it', async () => {
    const mark = `orphan${process.pid}`
    const script = `
      import { bwrapDriver } from 'quintain/sandbox'
      const box = await bwrapDriver().start()
      await box.exec('(setsid sleep 300 &) ; sleep 299 & echo')
      void box.exec('exec -a ${mark} sleep 303')
      setTimeout(() => process.stdout.write('up'), 100)
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    expect(processesSaying(mark).length).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    for (let tries = 0; tries < 100 && processesSaying(mark).length > 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(processesSaying(mark)).toEqual([])
    // Its control groups are what nobody could remove; the next run does.
    expect(await bwrapDriver().sweep?.()).toBeGreaterThanOrEqual(0)
    expect(groups()).toEqual([])
  })

  it('is stopped by limits: processes, memory, disk, processor, core files', async () => {
    const box = await start({ limits: { pids: 32, memoryMb: 64, diskMb: 16, cpuMs: 1_000, wallMs: 15_000 } })
    const forks = await box.exec(':(){ :|:& };: ; sleep 1; ls /proc | grep -c "^[0-9]"', { wallMs: 3_000 })
    expect(forks.timedOut || forks.exitCode !== null || forks.signal !== null).toBe(true)
    const after = await start({ limits: { memoryMb: 64, diskMb: 16, cpuMs: 1_000, wallMs: 15_000 } })
    const memory = await after.exec('perl -e \'my @a; push @a, "x" x 1e6 for 1..500; print "had it all"\'')
    expect(memory.stdout).not.toContain('had it all')
    expect(memory.outOfMemory).not.toBe(false)
    const disk = await after.exec(
      'head -c 40000000 /dev/zero > big; stat -c %s big; head -c 40000000 /dev/zero > /tmp/big',
    )
    expect(disk.stderr).toMatch(/No space left/)
    const spin = await after.exec('while :; do :; done')
    expect(spin).toMatchObject({ signal: expect.stringMatching(/SIGXCPU|SIGKILL/), timedOut: false })
    expect((await after.exec('ulimit -c')).stdout).toBe('0\n')
  })

  it('leaves no mount and no control group', async () => {
    const before = mounts()
    const boxes = await Promise.all(Array.from({ length: 4 }, () => start()))
    expect(mounts()).toBe(before)
    await Promise.all(boxes.map((box) => box.stop()))
    expect(mounts()).toBe(before)
    expect(groups()).toEqual([])
  })

  it('leaves no control group of a start that was refused', async () => {
    const refusedStarts: BoxOptions[] = [
      { image: '/nonexistent' },
      { readOnlyFiles: { 't.sh': 'x' } },
      { readOnlyFiles: { '/tests/a': 'x', '/tests/a/b': 'x' } },
      { files: { '/usr/x': '' } },
      { files: { '/tests/b': '' }, readOnlyFiles: { '/tests/a': '' } },
      { workdir: '/usr/x' },
      { files: { big: new Uint8Array(3 * 2 ** 20) }, limits: { diskMb: 2 } },
    ]
    for (const options of refusedStarts) await expect(driver.start(options)).rejects.toBeDefined()
    expect(groups()).toEqual([])
    for (const options of refusedStarts.toSpliced(2, 1))
      await expect(driver.start(options)).rejects.toMatchObject({ code: 'options_invalid' })
  })

  it('has read-only files by whatever bytes their names are', async () => {
    const box = await start({
      readOnlyFiles: { '/tests/\udcff/x': 'one', '/tests/\udcfe': 'two', '/tests/\udcfe\ud800': '' },
    })
    const { stdout } = await box.exec("cat $'/tests/\\xff/x' $'/tests/\\xfe'; ls /tests | wc -l")
    expect(stdout).toBe('onetwo3\n')
  })

  it('cannot use up the descriptors of whoever started it', async () => {
    let most = 0
    const connected = new Set<unknown>()
    const server = createServer((socket) => {
      connected.add(socket)
      most = Math.max(most, connected.size)
      socket.on('error', () => {})
      socket.on('close', () => connected.delete(socket))
      socket.on('data', () => socket.end('heard'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const { port } = server.address() as { port: number }
    try {
      const box = await start({
        limits: { wallMs: 20_000 },
        network: { sockets: [{ box: { port: 9009 }, host: { port } }] },
      })
      const flood =
        'perl -e \'my @all; for (1 .. 380) { socket(my $s, 2, 1, 0) or last; connect($s, pack("S n a4 x8", 2, 9009, "\\x7f\\0\\0\\1")) or last; push @all, $s } print scalar @all; select undef, undef, undef, 0.5\''
      expect((await box.exec(flood)).stdout).toBe('380')
      expect(most).toBeLessThanOrEqual(256)
      const polite = 'exec 3<>/dev/tcp/127.0.0.1/9009 && echo hello >&3 && cat <&3'
      expect((await box.exec(polite)).stdout).toBe('heard')
      expect((await box.exec('ulimit -n')).stdout.trim()).toMatch(/^\d{1,4}$/)
    } finally {
      server.close()
    }
  })

  it('is scored as an empty box when a command in it cannot be ended', async () => {
    const box = await start({ label: `stuck-${process.pid}` })
    await box.write('left', 'x')
    const running = box.exec(`exec -a stuck${process.pid} sleep 60`, { wallMs: 500 })
    while (processesSaying(`stuck${process.pid}`).length === 0) await box.exec('true')
    // Its first process, which is to end the command, does nothing any more.
    const [sleeper] = processesSaying(`stuck${process.pid}`)
    const first = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${sleeper}/status`, 'utf8'))?.[1])
    process.kill(first, 'SIGSTOP')
    expect(await running).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
    expect(await box.exec('true')).toMatchObject({ notStarted: 'no_process' })
    expect(await box.read('left')).toMatchObject({ ok: false, reason: 'missing' })
    expect((await box.snapshot()).skipped).toEqual([{ path: '/box', reason: 'missing' }])
  })

  it('is a fault when somebody else ends it', async () => {
    const box = await start({ label: `ended-${process.pid}` })
    const running = expect(box.exec('sleep 60')).rejects.toMatchObject({
      fault: { owner: 'sandbox', code: 'sandbox_lost', retryable: true },
    })
    for (const pid of processesSaying(`ended-${process.pid}`)) process.kill(pid, 'SIGKILL')
    await running
    await expect(box.exec('true')).rejects.toMatchObject({ fault: { code: 'sandbox_lost' } })
    await expect(box.snapshot()).rejects.toMatchObject({ fault: { code: 'sandbox_lost' } })
  })

  it('tells nothing of us in what it throws and in what others see of it', async () => {
    const box = await start({ env: { GATEWAY_KEY: canary }, label: 'attempt a1' })
    expect((await box.exec('echo $GATEWAY_KEY')).stdout).toContain(canary)
    // Its variables are in no command line of the host.
    expect(processesSaying(canary)).toEqual([])
    expect(processesSaying('attempt a1').length).toBeGreaterThan(0)
    const failing = bwrapDriver({ program: '/bin/false' })
    const error: unknown = await failing
      .start({ env: { GATEWAY_KEY: canary } })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      fault: { owner: 'sandbox', code: 'sandbox_start_failed', retryable: true },
    })
    expect(`${String(error)} ${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain(canary)
  })
})
