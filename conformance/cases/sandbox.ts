import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GradingSandbox } from '../../packages/quintain/src/core/index.ts'
import { environment, evaluate, foldRun } from '../../packages/quintain/src/index.ts'
import { type Box, type BoxOptions, bwrapDriver } from '../../packages/quintain/src/sandbox/index.ts'
import { runSuite } from '../../packages/quintain/src/scoring/index.ts'
import { runChecks } from '../../packages/quintain/src/scoring/run-checks.ts'

type Input = Record<string, unknown>

// Without a box that holds, no case of these is true or false: they are skipped.
const driver = bwrapDriver()
const { available } = await driver.available()

async function inBox<T>(options: BoxOptions, use: (box: Box) => Promise<T>): Promise<T> {
  const box = await driver.start(options)
  try {
    return await use(box)
  } finally {
    await box.stop()
  }
}

/** Grades what an agent left in its box while that box is still up, whatever runs in it. */
async function gradeAfter(
  agent: readonly string[],
  trueReward: number,
  tests: string,
): Promise<number | null> {
  return inBox({ files: trueReward > 0 ? { solution: 'right' } : {} }, async (box) => {
    for (const command of agent) await box.exec(command, { wallMs: 1_000 })
    const left = await box.snapshot()
    const opened = new Set<Box>()
    const sandbox: GradingSandbox = {
      artefacts: null,
      async start(given) {
        const { artefacts: _how, ...options } = given ?? {}
        const grading = await driver.start({ workdir: '/grade', ...options })
        opened.add(grading)
        await grading.restore(left)
        return grading
      },
    }
    try {
      const graded = await runChecks(sandbox, {
        tests: { 'test.sh': tests },
        expected: ['solved'],
        checkMs: 3_000,
      })
      return typeof graded.value === 'number' ? graded.value : null
    } finally {
      for (const grading of opened) await grading.stop()
    }
  })
}

const rightAnswer = 'check solved grep -q right /box/solution\n'
const background = (command: string) => `(setsid bash -c ${quoted(command)} >/dev/null 2>&1 &)`

async function rewardForge({ agent_leaves_process, true_reward }: Input) {
  const agent = ['mkdir -p /logs/verifier /tmp', background(String(agent_leaves_process))]
  return { reward: await gradeAfter(agent, Number(true_reward), rightAnswer) }
}

/** The agent edits every test that it can find, at the places where tests are looked for. */
async function testsEdit({ agent, true_reward }: Input) {
  const plant = 'mkdir -p /tests tests; echo "report solved 0" | tee /tests/test.sh tests/test.sh > /dev/null'
  return { reward: await gradeAfter([plant, String(agent)], Number(true_reward), rightAnswer) }
}

/** Tests are not in the agent's box at all, and in the grader's they are files that nobody can replace. */
async function testsHidden() {
  const seen = await inBox(
    {},
    async (box) => (await box.exec('ls /tests; find / -xdev -name "*test*" -path "/tests*"')).stdout,
  )
  const replaced = await inBox({ readOnlyFiles: { '/tests/check.sh': 'genuine' } }, async (box) => {
    await box.exec('echo forged > /tests/check.sh; mv /tests /t; mkdir /tests; cp /dev/null /tests/check.sh')
    const read = await box.read('/tests/check.sh')
    return !read.ok || Buffer.from(read.data).toString() !== 'genuine'
  })
  return { agent_can_replace_members: seen !== '' || replaced }
}

async function secretScan({ paths, secrets }: Input) {
  const values = (secrets as unknown[]).map(String)
  values.forEach((value, index) => {
    process.env[`CASE_SECRET_${index}`] = value
  })
  try {
    return await inBox({}, async (box) => {
      const asked = (paths as unknown[]).map((path) => quoted(String(path))).join(' ')
      const read = await Promise.all((paths as unknown[]).map((path) => box.read(String(path))))
      const { stdout, stderr } = await box.exec(`cat ${asked}; env; cat /proc/*/environ`)
      const all = [
        stdout,
        stderr,
        ...read.map((file) => (file.ok ? Buffer.from(file.data).toString() : '')),
      ].join()
      return { found: values.filter((value) => all.includes(value)).length }
    })
  } finally {
    for (const index of values.keys()) delete process.env[`CASE_SECRET_${index}`]
  }
}

/** Which of the host's variables a box has with the host's values. */
async function visibleEnv({ host_env, declared }: Input) {
  const host = Object.entries(host_env as Record<string, string>)
  const names = (declared as unknown[]).map(String)
  const before = { ...process.env }
  Object.assign(process.env, Object.fromEntries(host))
  try {
    const env = Object.fromEntries(host.filter(([name]) => names.includes(name)))
    const { stdout } = await inBox({ env }, (box) => box.exec('env -0'))
    const lines = stdout.split('\0')
    return {
      visible: host.filter(([name, value]) => lines.includes(`${name}=${value}`)).map(([name]) => name),
    }
  } finally {
    for (const [name] of host) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}

async function readFile({ path, is_symlink_to }: Input) {
  const folder = mkdtempSync(join(tmpdir(), 'quintain-case-'))
  const secret = `host-${Math.random()}`
  writeFileSync(join(folder, 'secret'), secret)
  try {
    return await inBox({}, async (box) => {
      const target = String(is_symlink_to)
      await box.exec([
        'sh',
        '-c',
        'mkdir -p "$(dirname "$1")"; ln -s "$2" "$1"; ln -s "$3" "$1.host"',
        'sh',
        String(path),
        target,
        join(folder, 'secret'),
      ])
      const [asked, host] = await Promise.all([box.read(String(path)), box.read(`${path}.host`)])
      const text = (file: typeof asked) => (file.ok ? Buffer.from(file.data).toString() : '')
      const ofHost = [secret, readFileSync('/etc/passwd', 'utf8')]
      return {
        refused: !asked.ok,
        host_file_read: ofHost.some((held) => [asked, host].some((file) => text(file).includes(held))),
      }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A file whose name a shell would run goes all the ways that a name goes. */
async function queue({ filename }: Input) {
  const name = String(filename)
  return inBox({}, async (box) => {
    await box.write(name, '{}')
    await box.read(name)
    await box.exec(['cat', name])
    await box.list('.')
    const snapshot = await box.snapshot()
    await box.restore(snapshot, { at: 'again' })
    const listed = await box.list('.')
    return { executed: !listed.ok || listed.entries.some((entry) => entry.name === 'pwned') }
  })
}

async function reset({ before }: Input) {
  const paths = (before as unknown[]).map(String)
  await inBox({}, async (box) => {
    for (const path of paths) await box.write(path, 'old')
  })
  return inBox({}, async (box) => {
    const found = await Promise.all(paths.map((path) => box.read(path)))
    return { files_after: found.filter(({ ok }) => ok).length }
  })
}

async function create({ parallel }: Input) {
  const starts = Array.from({ length: Number(parallel) }, () =>
    driver.start({ limits: { memoryMb: 32, diskMb: 8 } }),
  )
  const settled = await Promise.allSettled(starts)
  const boxes = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  await Promise.all(boxes.map((box) => box.stop()))
  const failed = settled.find((result) => result.status === 'rejected')
  // More than come up at once wait for their turn, and all of them are there in the end.
  return {
    queued: boxes.length === starts.length,
    error: failed === undefined ? null : String(failed.reason),
  }
}

/** A process with a box is killed where it stands; then another looks after what it left. */
async function cleanup({ killed }: Input) {
  const mark = `case${process.pid}x${Date.now()}`
  const script = `
    import { bwrapDriver } from ${JSON.stringify(new URL('../../packages/quintain/src/sandbox/index.ts', import.meta.url).href)}
    const box = await bwrapDriver().start()
    await box.exec('(setsid bash -c "exec -a ${mark} sleep 300" >/dev/null 2>&1 &)')
    process.stdout.write('up')
    await box.exec('exec -a ${mark} sleep 300')
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill(killed as NodeJS.Signals)
  await new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => setTimeout(resolve, 300))
  await driver.sweep?.()
  const orphans = readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) &&
        Number(name) !== process.pid
      )
    } catch {
      return false
    }
  })
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(`quintain-box-${child.pid}-`))
  return { orphans: orphans.length, anonymous_volumes: folders.length }
}

/** A script that does not come to its end in time has run once. */
async function setup({ script }: Input) {
  return inBox({}, async (box) => {
    await box.exec(`${script}; sleep 30`, { wallMs: 300 })
    const { stdout } = await box.exec('cat /cfg | wc -l')
    return { retried: Number(stdout) !== 1 }
  })
}

/** The agent's box asks for the world without end, while the grader's box is let out to it. */
async function egress() {
  let fromAgent = 0
  const server = createServer((socket) =>
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        if (chunk.toString().startsWith('agent')) fromAgent += 1
        socket.end('answer\n')
      }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as { port: number }
  const poll = background(
    `while true; do for p in ${port} 8080; do (exec 3<>/dev/tcp/127.0.0.1/$p && echo agent >&3) ; done; sleep 0.05; done`,
  )
  try {
    return await inBox({}, async (agent) => {
      await agent.exec(poll)
      const network = { sockets: [{ box: { port: 8080 }, host: { port } }] }
      const { stdout } = await inBox({ network }, (grading) =>
        grading.exec('exec 3<>/dev/tcp/127.0.0.1/8080; echo grader >&3; cat <&3; sleep 0.3'),
      )
      if (stdout !== 'answer\n') throw new Error('the grading box did not reach what was relayed to it')
      return { agent_connections: fromAgent }
    })
  } finally {
    server.close()
  }
}

/** A verifier that installs what it needs before it tests, where the network is off and no installer gets anything. */
async function offline({ apt_get }: Input) {
  const works = /^(?:ok|works|succeeds|installed)/.test(String(apt_get))
  const results = '<testsuite tests="1"><testcase classname="t" name="works"/></testsuite>'
  const env = environment({
    tasks: [{ id: 'task', prompt: 'go' }],
    sandbox: { drivers: ['bwrap'] },
    rewards: {
      solved: ({ sandbox }) =>
        runSuite(sandbox, {
          command: `apt-get -y install tester && printf %s '${results}' > /tmp/results.xml`,
          results: { path: '/tmp/results.xml', dialect: 'junit' },
          expected: ['t::works'],
          control: {},
          tests: {
            '/tools/apt-get': {
              data: `#!/bin/sh\n${works ? 'exit 0' : "echo 'Could not resolve host' >&2; exit 100"}\n`,
              mode: 0o755,
            },
          },
          box: { env: { PATH: '/tools:/usr/bin:/bin' } },
        }),
    },
  })
  const dir = mkdtempSync(join(tmpdir(), 'quintain-case-'))
  try {
    const run = await evaluate(env, { agent: () => 'done', sandbox: driver, maxTries: 1, dir })
    const { chosen, status } = (await foldRun(dir)).states[0]!
    const owner = chosen?.fault?.owner
    return {
      status: owner === undefined ? status : owner === 'grader' ? 'verifier_error' : `${owner}_error`,
      code: chosen?.fault?.code,
      counted_as_zero: status !== 'scored' && run.summary.reward.observed === 0,
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export const ops = {
  ...(available
    ? {
        'sandbox.reward_forge': rewardForge,
        'sandbox.tests_edit': testsEdit,
        'sandbox.tests_hidden': testsHidden,
        'sandbox.secret_scan': secretScan,
        'sandbox.env': visibleEnv,
        'sandbox.read_file': readFile,
        'sandbox.queue': queue,
        'sandbox.reset': reset,
        'sandbox.create': create,
        'sandbox.cleanup': cleanup,
        'sandbox.setup': setup,
        'sandbox.egress': egress,
        'verifier.offline': offline,
      }
    : {}),
}
