import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What became of a case. */
export type Verdict = { status: 'pass' } | { status: 'skipped' } | { status: 'fail'; detail: string }

/** What the process says: what is wrong with its area files, when it is ready; then one answer a line. */
export type Message = { ready: { file: string; reason: string }[] } | { verdict: Verdict }

/**
 * Runs cases in a process of their own, one at a time, so that one that crashes, blocks or ends the process is a
 * failure and not the end of the run.
 */
export class CaseProcess {
  readonly #folder: string
  readonly #limitMs: number
  #child: ChildProcess | undefined

  constructor(options: { folder: string; limitMs: number }) {
    this.#folder = options.folder
    this.#limitMs = options.limitMs
  }

  /** Starts the process, and says which area files are broken. */
  async start(): Promise<{ file: string; reason: string }[]> {
    const child = fork(fileURLToPath(new URL('./run-case.ts', import.meta.url)), [this.#folder], {
      execArgv: [],
      // What operations print goes to standard error: standard output is the list of verdicts.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    this.#child = child
    const answer = await this.#answer(child, this.#limitMs)
    if (typeof answer === 'object' && 'ready' in answer) return answer.ready
    this.stop()
    return [{ file: 'the process of the cases', reason: `did not start: ${JSON.stringify(answer)}` }]
  }

  async run(line: string): Promise<Verdict> {
    if (this.#child === undefined) await this.start()
    const child = this.#child
    if (child === undefined) return { status: 'fail', detail: 'the process of the cases does not start' }
    child.send(line)
    const answer = await this.#answer(child, this.#limitMs)
    if (typeof answer === 'object' && 'verdict' in answer) return answer.verdict
    this.stop()
    return {
      status: 'fail',
      detail: typeof answer === 'string' ? answer : 'the process answered out of turn',
    }
  }

  stop(): void {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }

  /** The next message, or how the process ended instead. */
  async #answer(child: ChildProcess, limitMs: number): Promise<Message | string> {
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(), limitMs)
    try {
      return await Promise.race([
        once(child, 'message', { signal: over.signal }).then(([message]) => message as Message),
        once(child, 'exit', { signal: over.signal }).then(
          ([code, signal]) => `crashed: the process ended with ${signal ?? `exit code ${code}`}`,
        ),
      ])
    } catch (thrown) {
      if (over.signal.aborted) return `exceeded ${limitMs / 1000} s`
      return `crashed: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    } finally {
      clearTimeout(timer)
      over.abort()
    }
  }
}
