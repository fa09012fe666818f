import {
  type AskJudge,
  addCost,
  addUsage,
  didYouMean,
  FaultError,
  isThrown,
  type JudgeReply,
  type JudgeRequest,
  type Model,
  ModelFault,
  messageOf,
  noUsage,
  QuintainError,
  textOf,
  type Usage,
} from '../core/index.ts'
import { now } from '../core/own-time.ts'
import { withSettings } from '../harness/index.ts'
import type { Hold } from './attempt-boxes.ts'

/** The seat under whose name the calls of a judge cross the channel of a worker: no environment can have one of that name. */
export function judgeSeat(judge: string): string {
  return `judge:${judge}`
}

/** Under this name a model stands for every judge that has none of its own. */
export const anyJudge = '*'

/** One call, for the private records: what was asked may quote gold. */
interface JudgeCall {
  judge: string
  request: JudgeRequest
  reply?: JudgeReply
  fault?: string
  /** What was asked is too long to be kept. */
  cut?: true
  ms: number
}

/** Of what one call was asked and said, so much is kept. */
const charsKept = 256 * 1024

export interface JudgeDeskOptions {
  /** Names that the environment declares. */
  judges: readonly string[]
  modelOf(judge: string): Model
  /** For the logs of the model's client. */
  context: { attempt: string; task: string; repeat: number }
}

/**
 * Asks judges for the graders of one attempt, and keeps what was asked, what it cost, and the time for which the calls had
 * to wait, which is not the grading's own.
 */
export class JudgeDesk implements Hold {
  readonly calls: JudgeCall[] = []
  usage: Usage = noUsage
  costUsd: number | null = 0
  private readonly options: JudgeDeskOptions
  private waits = 0
  private since = 0
  private waited = 0

  constructor(options: JudgeDeskOptions) {
    this.options = options
  }

  waitedMs(): number {
    return this.waited + (this.waits > 0 ? now() - this.since : 0)
  }

  /** The desk as graders see it. `over` ends calls when the grading is over. */
  forGraders(over: () => AbortSignal): AskJudge {
    return async (judge, request, { signal } = {}) => {
      const { judges, modelOf, context } = this.options
      if (!judges.includes(judge)) {
        throw new QuintainError(
          'usage',
          `There is no judge ${JSON.stringify(judge)}${didYouMean(judge, judges)} Name it in "judges" of the environment.`,
          { facts: { judge } },
        )
      }
      const model = modelOf(judge)
      const { messages, sampling, output } = request
      const bare = { messages, ...(sampling === undefined ? {} : { sampling }) }
      const asked =
        output === undefined
          ? bare
          : withSettings(bare, { responseFormat: { type: 'schema', ...output } }, model.id)
      const started = now()
      try {
        const response = await model.generate(asked, {
          ...context,
          seat: judgeSeat(judge),
          signal: signal === undefined ? over() : AbortSignal.any([signal, over()]),
          onWait: (waiting) => this.wait(waiting),
        })
        const { message, finish, usage, costUsd } = response
        const reply: JudgeReply = {
          text: textOf(message.content),
          ...(message.refusal === undefined ? {} : { refusal: message.refusal }),
          finish,
          ...(response.model === undefined ? {} : { model: response.model }),
          ...(usage === undefined ? {} : { usage }),
          ...(costUsd === undefined ? {} : { costUsd }),
        }
        this.count(usage, costUsd)
        this.keep({ judge, request, reply, ms: now() - started })
        return reply
      } catch (thrown) {
        this.keep({ judge, request, fault: messageOf(thrown), ms: now() - started })
        throw judgeFault(judge, thrown)
      }
    }
  }

  private wait(waiting: boolean): void {
    if (waiting && this.waits++ === 0) this.since = now()
    if (!waiting && --this.waits === 0) this.waited += now() - this.since
  }

  private count(usage: Usage | undefined, costUsd: number | null | undefined): void {
    if (usage !== undefined) this.usage = addUsage(this.usage, usage)
    this.costUsd = addCost(this.costUsd, costUsd ?? null)
  }

  private keep(call: JudgeCall): void {
    const fits = JSON.stringify(call).length <= charsKept
    this.calls.push(fits ? call : { ...call, request: { messages: [] }, cut: true })
  }
}

function judgeFault(judge: string, thrown: unknown): unknown {
  if (!isThrown(thrown, ModelFault)) return thrown
  const { code, message, retryable } = thrown.fault
  return new FaultError(
    {
      owner: 'judge',
      code: thrown.outcome ?? code,
      message: `judge ${judge} gave no reply: ${message}`,
      retryable,
    },
    thrown,
  )
}
