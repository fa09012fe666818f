import { type Harness, type HarnessContext, QuintainError } from '../core/index.ts'
import { type AgentModel, agentModel } from './agent-model.ts'
import { type AgentTurn, agentTurn } from './agent-turn.ts'
import { converse } from './conversation.ts'
import { withRollout } from './rollout.ts'
import { ServedTools } from './tools/served-tools.ts'
import type { ToolDesk } from './tools/tool-desk.ts'

/**
 * An agent passed as a function: the text it answers with. It is called once per turn of the environment. With no text
 * it has nothing more to say, and its part ends as `no_answer`.
 * One that throws, or answers with something else than text, ends the rollout as `agent_error`, which is graded on
 * what was left behind.
 */
export type AgentFunction<Data = unknown> = (turn: AgentTurn<Data>) => string | Promise<string>

/**
 * The harness of an agent that is a function. It makes its model calls through `model` of its turn, in whatever form
 * it takes one, or brings a model of its own; it carries out its own tool calls.
 * Throws `usage` for what is no function.
 *
 * @example agent(async ({ model, aiTools, input }) => (await generateText({ model, tools: aiTools, prompt: input })).text)
 */
export function agent<Data = unknown>(run: AgentFunction<Data>, options: { name?: string } = {}): Harness {
  if (typeof run !== 'function')
    throw new QuintainError(
      'usage',
      `agent(): give a function that answers; this is ${run === null ? 'null' : typeof run}.`,
    )
  const { name = run.name || 'agent' } = options
  return {
    name: `agent:${name}`,
    carries: { turns: true, tools: true, images: true },
    runs: 'outside',
    identity: run.toString(),
    run: (context) => play(context, run),
  }
}

/** As `agent`, under the name that records of an agent function bear. */
export function agentFunction<Data>(run: AgentFunction<Data>, name = 'agent'): Harness {
  return { ...agent(run, { name }), name: `${name}@function` }
}

async function play<Data>(context: HarnessContext, run: AgentFunction<Data>) {
  const memory: Record<string, unknown> = {}
  let model: AgentModel | undefined
  let served: ServedTools | undefined
  const parts = {
    memory,
    model: () => (model ??= agentModel(context.model)),
    served: (desk: ToolDesk) => (served ??= new ServedTools(desk)),
  }
  try {
    return await converse(context, async (question) => {
      const turn = agentTurn(context, question, parts)
      // What the task's data is, the one who wrote both knows.
      const text: unknown = await withRollout(turn, () => run(turn as AgentTurn<Data>))
      if (typeof text === 'string') return text === '' ? {} : { content: text }
      const kind = text === null ? 'null' : typeof text
      throw new TypeError(`the agent answered with ${kind}; an agent function returns text`)
    })
  } finally {
    await served?.close()
  }
}
