import { type HarnessContext, textOf } from '../../core/index.ts'
import type { Answer, Question } from '../conversation.ts'
import { platformFault } from '../fault-stop.ts'
import { addressOf } from '../model-address.ts'
import { ServedTools } from '../tools/served-tools.ts'
import { withGrace } from '../tools/with-grace.ts'
import { lineAnswer, readAnswer } from './answer.ts'
import { linksAt, openPlace } from './open-place.ts'
import type { CommandPlan } from './options.ts'
import type { LineProgram, Place } from './place.ts'
import { failureOf, notStarted, type ProgramEnd, ProgramFailure } from './program-end.ts'
import { filledArguments, newsText, taskJson } from './task-text.ts'
import { type Links, variablesOf } from './variables.ts'

/** The program of one attempt. */
export class CommandSession {
  private readonly plan: CommandPlan
  private readonly context: HarnessContext
  private served: ServedTools | undefined
  private opened: { place: Place; links: Links } | undefined
  private program: LineProgram | undefined

  constructor(plan: CommandPlan, context: HarnessContext) {
    this.plan = plan
    this.context = context
  }

  async ask(question: Question): Promise<Answer> {
    this.opened ??= await this.open(question)
    const { place, links } = this.opened
    const { task, signal } = this.context
    const json = taskJson(task, question)
    const env = { ...variablesOf(links, place.taskFile), ...this.plan.env }
    const written = await place.write(place.taskFile, json)
    if (!written.ok) throw taskNotWritten(question.turn, written.message)
    return withGrace(question.tools, this.plan.graceMs, (over) => {
      const stop = AbortSignal.any([signal, over])
      return this.plan.turns === 'lines'
        ? this.exchange(place, env, { json, turn: question.turn }, stop)
        : this.runOnce(place, env, { json, text: newsText(question.news), stop, question })
    })
  }

  async close(): Promise<void> {
    await this.program?.stop(this.plan.graceMs)
    await this.opened?.place.close()
    await this.served?.close()
  }

  private async open(question: Question): Promise<{ place: Place; links: Links }> {
    const { plan, context } = this
    const model = await addressOf(context)
    const served = new ServedTools(question.tools)
    this.served = served
    const offered = question.tools.specs.length > 0
    const tools = offered ? await served.json() : undefined
    const mcp = offered ? await served.mcpWhereInstalled() : undefined
    const place = await openPlace(plan, context, { model, tools, mcp })
    return { place, links: linksAt(plan, context, { model, tools, mcp }) }
  }

  private async runOnce(
    place: Place,
    env: Record<string, string>,
    { json, text, stop, question }: { json: string; text: string; stop: AbortSignal; question: Question },
  ): Promise<Answer> {
    const { plan, context } = this
    const model = this.opened?.links.model
    const argv =
      plan.task === 'args'
        ? filledArguments(plan.argv, { input: text, task: json, taskFile: place.taskFile, model })
        : plan.argv
    const end = await place.run(argv, { env, stdin: plan.task === 'stdin' ? text : '', signal: stop })
    context.signal.throwIfAborted()
    if (end.truncated?.stdout || end.truncated?.stderr) context.flag?.('output_cut')
    if (question.tools.done === undefined) {
      const ended = this.endOf(end, question.turn)
      if (ended !== undefined) return ended
    }
    const answer = await readAnswer(plan.answer, { end, place, lastReply: () => this.lastReply() })
    return answer === '' ? {} : { content: answer }
  }

  /** Tells a program that talks in lines its turn, and waits for its line. */
  private async exchange(
    place: Place,
    env: Record<string, string>,
    { json, turn }: { json: string; turn: number },
    stop: AbortSignal,
  ): Promise<Answer> {
    const { plan, context } = this
    this.program ??= place.start?.(plan.argv, { env })
    const { program } = this
    if (program === undefined)
      throw platformFault(
        'box_cannot_talk',
        'a program in this box cannot be talked to in lines; leave `turns` out',
        false,
      )
    const end = () => void program.stop(plan.graceMs)
    stop.addEventListener('abort', end, { once: true })
    if (stop.aborted) end()
    try {
      program.write(`${json}\n`)
      const line = await program.line()
      context.signal.throwIfAborted()
      if (line !== undefined) return lineAnswer(line)
      if (stop.aborted) return {}
      return this.endOf(await program.ended, turn) ?? {}
    } finally {
      stop.removeEventListener('abort', end)
    }
  }

  /** The end that a program's own end is; undefined when it ended well. Throws its failure. */
  private endOf(end: ProgramEnd, turn: number): Answer | undefined {
    if (end.notStarted !== undefined) throw notStarted(this.plan.argv[0] ?? '', end.notStarted, turn)
    if (end.timedOut) return { end: { outcome: 'wall_limit', stop: 'box_wall_limit' } }
    const failure = failureOf(end, this.opened?.links.model?.apiKey)
    if (failure !== undefined) throw failure
    return undefined
  }

  private lastReply(): string {
    return textOf(this.context.model.lastReply?.()?.content)
  }
}

/** Before its first turn that is the machine's doing; after it, what the program left is in the way. */
function taskNotWritten(turn: number, message: string): Error {
  return turn === 0
    ? platformFault('task_not_written', `the file of the task cannot be written: ${message}`, true)
    : new ProgramFailure('left no room for the file of its next turn', message)
}
