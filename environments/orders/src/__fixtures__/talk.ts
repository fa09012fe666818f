import { type Action, createRng, type Message, type Observation, type ToolMessage, textOf } from 'quintain'
import { customer } from '../customer.ts'
import { Desk, type DeskState } from '../desk.ts'
import { conduct, type Judgement, judge } from '../grading.ts'
import type { Scenario } from '../scenario.ts'

type Turns = Generator<Action, Action | void, Observation>

/** What a conversation without the engine came to. */
export interface Talk extends Judgement {
  state: DeskState
  conduct: number
  /** Texts of the two, in order. */
  lines: string[]
  /** Results of the agent's tool calls, in order. */
  results: string[]
}

/** Plays a scenario with a script in the agent's seat, in this process and without the engine. For tests. */
export async function talk(scenario: Scenario, agent: () => Turns): Promise<Talk> {
  const desk = new Desk(scenario, createRng('talk'))
  const lines: string[] = []
  const results: string[] = []
  const seats = {
    customer: seatOf(desk, 'customer', [], () => customer(scenario.caller)),
    agent: seatOf(desk, 'agent', results, agent),
  }
  try {
    let seat: 'agent' | 'customer' = 'customer'
    let heard = 'You are through.'
    for (let count = 0; count < 200; count++) {
      const said = await seats[seat](heard)
      if (said === undefined) break
      lines.push(`${seat}: ${said}`)
      heard = textOf(desk.reply(said, seat).content)
      seat = seat === 'agent' ? 'customer' : 'agent'
    }
    const state = desk.finish()
    return { ...judge(scenario, state), state, conduct: conduct(scenario, state), lines, results }
  } finally {
    desk.close()
  }
}

/** A seat that is told what the other said and runs its tools until it says something; undefined when it is through. */
function seatOf(desk: Desk, seat: string, log: string[], start: () => Turns) {
  const tools = new Map(desk.tools(seat).map((tool) => [tool.name, tool]))
  let script: Turns | undefined
  const messages: Message[] = []
  const observe = (texts: string[], results: ToolMessage[] = []): Observation => ({
    text: texts.join('\n'),
    messages,
    results,
  })
  return async (heard: string): Promise<string | undefined> => {
    let observation = observe([heard])
    messages.push({ role: 'user', content: heard })
    for (;;) {
      const fresh = script === undefined
      script ??= start()
      const step = fresh ? script.next() : script.next(observation)
      const action = step.value
      if (action === undefined) return undefined
      if (typeof action === 'string') return action
      const texts: string[] = []
      for (const { tool, arguments: args } of callsOf(action)) {
        const found = tools.get(tool)
        if (found === undefined) throw new Error(`there is no tool ${tool}`)
        const checked = await found.schema['~standard'].validate(args ?? {})
        const result = checked.issues
          ? { toolError: 'arguments_invalid', message: '' }
          : await found.run(checked.value as never, { signal: AbortSignal.any([]), callId: '' })
        if (typeof result === 'object' && 'done' in result) return undefined
        texts.push(
          typeof result === 'object' && 'toolError' in result
            ? `error ${result.toolError}: ${result.message}`
            : String(result),
        )
      }
      log.push(...texts)
      observation = observe(texts)
    }
  }
}

function callsOf(action: Exclude<Action, string>) {
  if ('tool' in action) return [action]
  return 'text' in action ? (action.calls ?? []) : action
}
