import { randomUUID } from 'node:crypto'
import { type HarnessContext, type ModelAddress, textOf } from '../../core/index.ts'
import { clearTimeout, now, setTimeout } from '../../core/own-time.ts'
import type { Answer, Question } from '../conversation.ts'
import { platformFault } from '../fault-stop.ts'
import { addressOf } from '../model-address.ts'
import { ServedTools } from '../tools/served-tools.ts'
import { withGrace } from '../tools/with-grace.ts'
import { initRequest } from './init-request.ts'
import type { RemotePlan } from './options.ts'
import { RemoteFailure } from './remote-failure.ts'
import { Service } from './service.ts'

const firstPauseMs = 100

/** One attempt with a service. Each turn of the environment is a rollout of its own there. */
export class RemoteSession {
  private readonly plan: RemotePlan
  private readonly runId: string
  private readonly context: HarnessContext
  private readonly service: Service
  private served: ServedTools | undefined

  constructor(plan: RemotePlan, runId: string, context: HarnessContext) {
    this.plan = plan
    this.runId = runId
    this.context = context
    this.service = new Service(plan)
  }

  async ask(question: Question): Promise<Answer> {
    const { signal } = this.context
    const rolloutId = randomUUID()
    const body = await this.body(question, rolloutId)
    return withGrace(question.tools, this.plan.graceMs, async (over) => {
      const stop = AbortSignal.any([signal, over])
      try {
        const { answer, error } = await this.follow(body, rolloutId, stop)
        if (error !== undefined && question.tools.done === undefined)
          throw new RemoteFailure(`the agent says that it failed: ${error}`)
        const said = answer ?? textOf(this.context.model.lastReply?.()?.content)
        return said === '' ? {} : { content: said }
      } catch (thrown) {
        if (!stop.aborted) throw thrown
        await this.service.cancel(rolloutId)
        signal.throwIfAborted()
        return {}
      }
    })
  }

  async close(): Promise<void> {
    await this.served?.close()
  }

  /** Starts a rollout and asks after it until it is over. */
  private async follow(body: unknown, id: string, signal: AbortSignal) {
    const { pollMs, lostAfterMs, url } = this.plan
    let status = await this.service.init(body, signal)
    let heard = now()
    for (let pause = firstPauseMs; !status.over; pause = Math.min(pause * 1.5, pollMs)) {
      await sleep(Math.min(pause, pollMs), signal)
      const said = await this.service.status(id, signal, Math.max(1, Math.ceil(heard + lostAfterMs - now())))
      if (said !== undefined) {
        status = said
        heard = now()
      } else if (now() - heard >= lostAfterMs) {
        // It may be there all the same, and spend.
        await this.service.cancel(id)
        throw platformFault(
          'agent_lost',
          `the agent at ${url} has given no status that can be read for ${lostAfterMs} ms`,
          true,
        )
      }
    }
    return status
  }

  private async body(question: Question, rolloutId: string): Promise<unknown> {
    const { plan, context } = this
    const address = await addressOf(context)
    this.served ??= new ServedTools(question.tools)
    // Tools are served on this machine only.
    const offered = question.tools.specs.length > 0 && plan.publicUrl === undefined
    const json = offered ? await this.served.json() : undefined
    const mcp = offered ? await this.served.mcpWhereInstalled() : undefined
    const at = (tools: { port: number; path: string }) => `http://127.0.0.1:${tools.port}${tools.path}`
    return initRequest({
      rolloutId,
      runId: this.runId,
      task: context.task,
      turn: question.turn,
      messages: question.messages,
      tools: question.tools.specs,
      model: address && this.reachable(address),
      completionParams: plan.completionParams,
      toolsUrl: json && at(json),
      mcp: mcp && { url: at(mcp), headers: mcp.headers },
      endpoints: context.endpoints,
    })
  }

  /** The model's address as the service reaches it. */
  private reachable({ apiKey, model, baseURL, path }: ModelAddress) {
    const { publicUrl } = this.plan
    if (publicUrl === null) return undefined
    return { apiKey, model, baseURL: publicUrl === undefined ? baseURL : `${publicUrl}${path}` }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      signal.removeEventListener('abort', abandon)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const abandon = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    if (signal.aborted) abandon()
    else signal.addEventListener('abort', abandon, { once: true })
  })
}
