import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bwrapDriver } from './sandbox/index.ts'

/*
 * Boxes of real worker processes whose worker, or main process, is killed with SIGKILL while an agent's command runs:
 * nothing of them is left.
 */

const driver = bwrapDriver()
const found = await driver.available()
if (!found.available) process.stderr.write(`killed runs with boxes are not tried: ${found.reason}\n`)

const mark = `box-lives-${process.pid}`
const core = new URL('./core/index.ts', import.meta.url).href
const front = new URL('./index.ts', import.meta.url).href

/** Worlds that start two commands each, one in the background, and tell the worker's number and wait. */
const environment = `
import { environment, tool } from ${JSON.stringify(core)}
import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
export default environment({
  tasks: ['a', 'b', 'c'].map((id) => ({ id: '${mark}-' + id, prompt: 'go', secret: null })),
  needs: ['tools'],
  sandbox: {},
  async world(_task, { sandbox }) {
    const box = await sandbox.start()
    return {
      tools: () => [tool({
        name: 'wait', description: 'Waits.', input: z.object({}),
        async run(_input, { signal }) {
          await box.exec('(setsid nohup sleep 4711 >/dev/null 2>&1 &)')
          console.log('up ' + process.pid)
          await box.exec('sleep 4711', { signal })
          return 'waited'
        },
      })],
      finish: () => null,
    }
  },
  rewards: { any: () => 1 },
  policies: { *wait() { yield { tool: 'wait' } } },
})
`
const program = `
import { evaluate } from ${JSON.stringify(front)}
const run = await evaluate(process.argv[2], { policy: 'script:wait', dir: process.argv[3], workers: 1, maxTries: 1 })
console.log(JSON.stringify(run.summary.status))
process.exit(0)
`

/** Processes with the mark of this test, or of its commands, in their arguments. */
function marked(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return words.includes(text) && Number(name) !== process.pid && !words.includes('vitest')
        ? [Number(name)]
        : []
    } catch {
      return []
    }
  })
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const logOf = (dir: string): string => {
  try {
    return readFileSync(join(dir, 'private', 'worker.log'), 'utf8')
  } catch {
    return ''
  }
}

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quintain-lives-'))
  await mkdir(join(folder, 'env'))
  await writeFile(
    join(folder, 'env', 'package.json'),
    JSON.stringify({ name: 'lives', version: '1.0.0', type: 'module', exports: './index.js' }),
  )
  await writeFile(join(folder, 'env', 'index.js'), environment)
  await writeFile(join(folder, 'main.mjs'), program)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts a run whose three attempts each sit in a box. */
async function sitting(
  name: string,
): Promise<{ main: ChildProcess; worker: number; ended: Promise<string> }> {
  const dir = join(folder, name)
  const main = spawn(process.execPath, [join(folder, 'main.mjs'), join(folder, 'env'), dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  main.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const ended = new Promise<string>((resolve) => main.once('close', () => resolve(text)))
  await until(() => [...logOf(dir).matchAll(/up \d+/g)].length >= 3)
  // Three boxes, by their label, and in each the two commands.
  await until(() => marked(`quintain-box ${mark}`).length >= 3 && marked('sleep\x004711').length >= 6)
  const worker = Number(/up (\d+)/.exec(logOf(dir))?.[1])
  return { main, worker, ended }
}

const nothingLeft = () =>
  until(() => marked(`quintain-box ${mark}`).length === 0 && marked('sleep\x004711').length === 0)

describe.skipIf(!found.available)('a killed run', () => {
  test('leaves no box when the main process is killed', async () => {
    const { main, ended } = await sitting('main')
    main.kill('SIGKILL')
    await ended
    await nothingLeft()
    expect(marked(mark).filter((pid) => pid !== process.pid)).toEqual([])
  })

  test('leaves no box of a worker that is killed', async () => {
    const { worker, ended } = await sitting('worker')
    process.kill(worker, 'SIGKILL')
    expect(await ended).toContain('"faulted":3')
    await nothingLeft()
    expect(marked(`quintain-box ${mark}`)).toEqual([])
  })
})
