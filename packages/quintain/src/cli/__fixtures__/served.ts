import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../../../../', import.meta.url))

/** What a test began and must be ended when it is over, the last first. */
const begun: (() => unknown)[] = []

/** Kills processes and takes folders away; for `afterEach`. */
export async function endServed(): Promise<void> {
  for (const end of begun.splice(0).reverse()) await end()
}

/** What no client may ever see. */
export const canary = 'canary-gold-7741'

/** A shop: `pay` brings the till nearer to three, and what is said at last is the word that was asked for. */
export const shop = `
import { environment, tool } from 'quintain'
import { z } from 'zod'
export default environment({
  options: z.object({ word: z.string().default('please') }),
  needs: ['tools'],
  tasks: ['train', 'test'].flatMap((split) => [0, 1, 2].map((at) => ({
    id: split + '-' + at, split, prompt: 'Pay three and say the word.', data: { at }, secret: { gold: '${canary}-' + at },
  }))),
  world: (task, { options }) => {
    let paid = 0
    return {
      open: () => 'The till is empty. The word is ' + options.word + '.',
      tools: () => [tool({
        name: 'pay', description: 'Pays.', input: z.object({ much: z.number() }),
        run: ({ much }) => 'The till has ' + (paid += much),
      })],
      finish: () => ({ paid, word: options.word, gold: task.secret.gold }),
    }
  },
  rewards: { paid: ({ state, transcript }) => Number(state.paid === 3 && transcript.answer === state.word) },
  success: ({ rewards }) => rewards.paid === 1,
})
`

/** A folder of its own with packages of these names and sources; taken away by `endServed`. */
export async function folderWith(packages: Readonly<Record<string, string>>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-serve-')))
  begun.push(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  for (const [name, source] of Object.entries(packages)) {
    await mkdir(join(root, name))
    const manifest = {
      name,
      version: '1.0.0',
      type: 'module',
      exports: './index.ts',
      quintain: { contract: 1 },
    }
    await writeFile(join(root, name, 'package.json'), JSON.stringify(manifest))
    await writeFile(join(root, name, 'index.ts'), source)
  }
  return root
}

export interface ReadyLine {
  event: 'ready'
  pid: number
  environments: {
    name: string
    slug: string
    digest: string
    run: string
    splits: { name: string; tasks: number }[]
  }[]
  doors: {
    door: string
    token: boolean
    addresses: { url: string; plane: string; environments: string[] }[]
    losses: Record<string, string[]>
  }[]
  operations: { url: string }
}

/** `quintain serve … --json` in a process of its own, which is a group of its own too. */
export class ServeProcess {
  readonly child: ChildProcess
  /** Its exit code; null where a signal ended it. */
  readonly end: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor(cwd: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const bin = join(repository, 'packages', 'quintain', 'bin', 'quintain.js')
    this.child = spawn(process.execPath, [bin, 'serve', ...argv, '--json', '--workers', '1'], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.end = new Promise((resolve) => this.child.once('close', (code) => resolve(code)))
    begun.push(() => this.child.kill('SIGKILL') && this.end)
  }

  /** Waits for an event among its lines. Rejects when it ends without. */
  async event(name: string): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.lines().find((line) => line['event'] === name)
      if (found !== undefined) return found
      const ended = await Promise.race([this.end, new Promise((resolve) => setTimeout(resolve, 20, 'wait'))])
      if (ended !== 'wait' && !this.lines().some((line) => line['event'] === name))
        throw new Error(`no ${name}: exit ${ended}\n${this.stdout}\n${this.stderr}`)
    }
  }

  async ready(): Promise<ReadyLine> {
    return (await this.event('ready')) as unknown as ReadyLine
  }

  private lines(): Record<string, unknown>[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1)
    return whole
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
}

/** Asks a door for JSON. */
export async function ask(
  url: string,
  path: string,
  {
    method = 'POST',
    body,
    headers = {},
  }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; json: Record<string, unknown>; text: string }> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return { status: response.status, text, json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} }
}
