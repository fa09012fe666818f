import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { clearTimeout, setTimeout } from '../core/own-time.ts'
import { withStreams } from '../core/with-streams.ts'
import { parseLine } from './json-rpc.ts'
import { LineReader } from './line-reader.ts'
import { guardGroup } from './process-guardian.ts'

export interface StdioOptions {
  command: string
  args: readonly string[]
  /** The whole environment of the process; nothing of ours is added. */
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
  maxMessageBytes: number
  /** How much of the end of what it writes on stderr is kept. */
  stderrBytes: number
  /** A message was longer than `maxMessageBytes` and was left out. */
  onTooLarge(): void
  /** A line on stdout was no message. */
  onSkippedLine(): void
}

/** How long a server has to end by itself once its input is closed, then after SIGTERM, and once it has closed its output. */
const graceMs = { inputClosed: 500, terminated: 500, outputClosed: 500 }

/**
 * A server that is a program of its own, one JSON-RPC message a line on its standard streams. It leads a process group,
 * which is killed as a whole.
 *
 * The SDK's own transport hands over part of our environment, keeps to the one process, and holds whatever a server
 * writes without a line feed.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  private readonly options: StdioOptions
  private child: ChildProcessWithoutNullStreams | undefined
  private exited: Promise<void> = Promise.resolve()
  private release = () => {}
  private errorTail = Buffer.alloc(0)
  private closing: Promise<void> | undefined
  private over = false
  /** How the process ended, or why it was ended, once it has. */
  ending: string | undefined

  constructor(options: StdioOptions) {
    this.options = options
  }

  get pid(): number | null {
    return this.child?.pid ?? null
  }

  /** The end of what the process wrote on its stderr. */
  get stderr(): string {
    return this.errorTail.toString('utf8')
  }

  /** Resolves when the process runs; rejects with what `spawn` says when it does not. */
  async start(): Promise<void> {
    const { command, args, env, cwd } = this.options
    const spawned = spawn(command, [...args], {
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const child = withStreams(spawned)
    this.child = child
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.ending ??= signal === null ? `exit code ${code}` : `signal ${signal}`
        this.killGroup('SIGKILL')
        this.release()
        resolve()
        // What holds the pipes after the group was killed has left it, and is not waited for.
        setTimeout(() => this.finish(), 500).unref()
      })
    })
    child.once('close', () => this.finish())
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on('error', (error: Error) => this.onerror?.(error))
    }
    const reader = new LineReader({
      maxBytes: this.options.maxMessageBytes,
      onLine: (line) => this.hear(line),
      onTooLong: () => this.options.onTooLarge(),
    })
    child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
    child.stdout.on('end', () => {
      reader.end()
      // One that is about to exit says how; of one that goes on without its output nothing more will be heard.
      setTimeout(() => this.fellSilent(), graceMs.outputClosed).unref()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      const { stderrBytes } = this.options
      this.errorTail = Buffer.concat([this.errorTail, chunk.subarray(-stderrBytes)]).subarray(-stderrBytes)
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    if (child.pid !== undefined) this.release = guardGroup(child.pid)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this
    if (child === undefined || this.over || !child.stdin.writable) throw new Error('the server has ended')
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Ends the server and all that it started; resolves when they are gone. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    const { child } = this
    if (child?.pid !== undefined && this.ending === undefined) {
      child.stdin.end()
      if (!(await this.exitWithin(graceMs.inputClosed))) this.killGroup('SIGTERM')
      if (!(await this.exitWithin(graceMs.terminated))) this.killGroup('SIGKILL')
      await this.exited
    }
    this.finish()
  }

  private exitWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    return Promise.race([this.exited.then(() => true), late]).finally(() => clearTimeout(timer))
  }

  private hear(line: string): void {
    if (line.trim() === '') return
    const messages = parseLine(line)
    if (messages === undefined) this.options.onSkippedLine()
    else for (const message of messages) this.onmessage?.(message as JSONRPCMessage)
  }

  private fellSilent(): void {
    if (this.ending !== undefined) return
    this.ending = 'it closed its standard output'
    this.killGroup('SIGKILL')
    this.finish()
  }

  private killGroup(signal: NodeJS.Signals): void {
    const pid = this.child?.pid
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal)
    } catch {
      // Nobody is left.
    }
  }

  private finish(): void {
    if (this.over) return
    this.over = true
    for (const stream of [this.child?.stdin, this.child?.stdout, this.child?.stderr]) stream?.destroy()
    this.onclose?.()
  }
}
