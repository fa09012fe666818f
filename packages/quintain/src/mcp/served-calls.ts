import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Turn } from '../core/environment.ts'
import { FaultError } from '../core/fault-error.ts'
import type { Content } from '../core/message.ts'
import { clearTimeout, setInterval, setTimeout } from '../core/own-time.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { validate } from '../core/standard-schema.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import { resultForCaller } from './result-for-caller.ts'

/** A call that came over MCP, for whoever keeps the record. */
export interface ServedCall {
  name: string
  arguments: unknown
}

export interface ServedCallsOptions {
  /** The tools of the attempt, or what gives them at this moment. */
  tools: readonly Tool[] | (() => readonly Tool[] | Promise<readonly Tool[]>)
  /** Milliseconds that one call may take once it runs, and that it may wait behind others before. */
  callMs: number
  /** Calls that may wait behind the one that runs. */
  maxWaiting: number
  /** Takes secrets out of the message of an error that a tool threw. */
  redact(text: string): string
  /** What answers a call of a tool that is not on the list; the protocol's own refusal when absent. */
  otherwise?: ((name: string) => Tool) | undefined
  /** A tool gave a turn: its reward, and whether the episode is over, are for the host and not for the caller. */
  onTurn?: ((turn: Turn, call: ServedCall) => void) | undefined
  /** A tool threw, hung, or gave what is no tool result. */
  onFailure?: ((thrown: unknown, call: ServedCall) => void) | undefined
}

/** The protocol's own refusals, which the caller's SDK throws: not results. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const invalidParams = -32602
const internalError = -32603

/**
 * Carries out the calls of one attempt, one after the other in the order in which they came: a world is one state, and
 * its tools are not written to run in each other's midst.
 */
export class ServedCalls {
  private readonly options: ServedCallsOptions
  private readonly closing = new AbortController()
  private queue: Promise<unknown> = Promise.resolve()
  private waiting = 0
  /** Calls that were carried out. */
  count = 0
  /** The first failure of a tool that no agent could have caused, as a fault of the world or the one that it named. */
  failure: FaultError | undefined
  /** The environment's word for the end, once a turn has said it. */
  over: string | undefined

  constructor(options: ServedCallsOptions) {
    this.options = options
  }

  /** The tools at this moment; throws `CallRefused` when the world cannot say. */
  async tools(call: ServedCall = { name: 'tools/list', arguments: undefined }): Promise<readonly Tool[]> {
    const { tools } = this.options
    try {
      return typeof tools === 'function' ? await tools() : tools
    } catch (thrown) {
      this.fail(thrown, call, { code: 'threw', what: 'the list of tools threw' })
      throw new CallRefused(internalError, 'the world failed')
    }
  }

  /** Stops what runs and refuses what comes. */
  close(): void {
    this.closing.abort(new CallRefused(internalError, 'the world is closed'))
  }

  /**
   * What came of a call. A tool that fails, throws, or is given arguments that do not fit gives a result with
   * `isError`; throws `CallRefused` for a tool that is not there and for a world that is.
   */
  async call(
    call: ServedCall,
    context: { signal: AbortSignal; progress?: (done: number, total?: number, message?: string) => void },
  ): Promise<CallToolResult> {
    const tools = await this.tools(call)
    const tool = tools.find(({ name }) => name === call.name) ?? this.options.otherwise?.(call.name)
    if (tool === undefined) {
      const names = tools.map(({ name }) => name)
      throw new CallRefused(
        invalidParams,
        `Unknown tool ${JSON.stringify(call.name)}${didYouMean(call.name, names)}`,
      )
    }
    const checked = await validate(tool.schema, call.arguments ?? {})
    if (checked.issues !== undefined) {
      const issues = checked.issues
        .slice(0, 5)
        .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
      return errorResult(`The arguments do not fit "${tool.name}": ${issues.join('; ')}`)
    }
    if (this.waiting >= this.options.maxWaiting)
      return errorResult('Too many calls at once; this one was not carried out.')
    this.waiting++
    const before = this.queue
    const signal = AbortSignal.any([context.signal, this.closing.signal])
    const limit = withLimit(this.options.callMs, signal)
    // The next call waits for the tool itself: one that was given up may still be at work in the world.
    let started = false
    const run = before.then(() => {
      started = true
      limit.restart()
      return this.run(tool, checked.value, call, { ...context, signal: limit.signal })
    })
    this.queue = run.catch(() => {}).finally(() => this.waiting--)
    try {
      return await Promise.race([run, limit.passed])
    } catch (thrown) {
      if (thrown !== limit) throw thrown
      const { callMs } = this.options
      // Whoever asks for much at once has its calls wait: that is no failure of a tool.
      if (!started) return errorResult(`The call waited ${callMs / 1000} s behind others and was given up.`)
      const late = `tool "${tool.name}" did not end within ${callMs} ms`
      this.fail(new Error(late), call, { code: 'timeout', what: 'a call over MCP' })
      return errorResult(`The call did not end within ${callMs / 1000} s and was given up.`)
    } finally {
      limit.stop()
    }
  }

  private async run(
    tool: Tool,
    input: unknown,
    call: ServedCall,
    context: { signal: AbortSignal; progress?: (done: number, total?: number, message?: string) => void },
  ): Promise<CallToolResult> {
    context.signal.throwIfAborted()
    if (this.over !== undefined) return errorResult('Not carried out: the episode is over.')
    let given: ToolResult
    try {
      given = await tool.run(input as never, {
        signal: context.signal,
        callId: `mcp-${++this.count}`,
        ...(context.progress === undefined ? {} : { progress: context.progress }),
      })
    } catch (thrown) {
      if (context.signal.aborted) throw context.signal.reason
      this.fail(thrown, call, { code: 'threw', what: `tool "${tool.name}", called over MCP, threw` })
      // A fault is nobody's answer, and its words may be private.
      if (thrown instanceof FaultError) throw new CallRefused(internalError, 'the world failed')
      return errorResult(redactedMessage(this.options.redact, thrown, 500))
    }
    return this.resultOf(given, call)
  }

  private resultOf(given: ToolResult, call: ServedCall): CallToolResult {
    if (typeof given === 'string' || Array.isArray(given)) return resultForCaller(given as Content)
    if (typeof given === 'object' && given !== null && 'toolError' in given) return errorResult(given.message)
    if (typeof given === 'object' && given !== null && 'content' in given) {
      if (given.done !== undefined) this.over ??= given.done
      this.options.onTurn?.(given, call)
      return resultForCaller(given.content)
    }
    const thrown = new Error(`tool "${call.name}" returned no tool result`)
    this.fail(thrown, call, { code: 'bad_result', what: 'a call over MCP' })
    throw new CallRefused(internalError, 'the world failed')
  }

  private fail(thrown: unknown, call: ServedCall, { code, what }: { code: string; what: string }): void {
    this.failure ??=
      thrown instanceof FaultError
        ? thrown
        : new FaultError(
            {
              owner: 'world',
              code,
              message: `${what}: ${redactedMessage(this.options.redact, thrown)}`,
              retryable: code !== 'bad_result',
            },
            thrown,
          )
    this.options.onFailure?.(thrown, call)
  }
}

function errorResult(message: string): CallToolResult {
  return resultForCaller(message, { isError: true })
}

interface Limit {
  signal: AbortSignal
  /** Rejects with this limit when it has passed, and with the signal's reason when that aborts. */
  passed: Promise<never>
  /** All its time is left again. */
  restart(): void
  stop(): void
}

function withLimit(ms: number, outer: AbortSignal): Limit {
  const given = new AbortController()
  const { promise: passed, reject } = Promise.withResolvers<never>()
  passed.catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const abandon = () => reject(outer.reason)
  const limit: Limit = {
    signal: AbortSignal.any([given.signal, outer]),
    passed,
    restart() {
      clearTimeout(timer)
      timer = setTimeout(
        () => {
          given.abort(new Error('the call was given up'))
          reject(limit)
        },
        Math.min(ms, 2 ** 31 - 1),
      )
    },
    stop() {
      clearTimeout(timer)
      outer.removeEventListener('abort', abandon)
    },
  }
  limit.restart()
  if (outer.aborted) abandon()
  else outer.addEventListener('abort', abandon, { once: true })
  return limit
}

/**
 * Tells a caller that asked for progress at regular intervals that the work goes on, beside what the tool itself
 * tells.
 */
export function startProgress(
  send: (progress: { progress: number; total?: number; message?: string }) => void,
  everyMs: number,
): { tell(done: number, total?: number, message?: string): void; stop(): void } {
  let last = 0
  // Progress must grow with each notification, whatever a tool says.
  const tell = (done: number, total?: number, message?: string) => {
    last = Number.isFinite(done) && done > last ? done : last + 1e-6
    send({
      progress: last,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    })
  }
  const timer = setInterval(() => tell(last), everyMs)
  timer.unref()
  return { tell, stop: () => globalThis.clearInterval(timer) }
}
