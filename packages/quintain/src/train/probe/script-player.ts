import type { AssistantMessage, Model, ModelRequest } from '../../core/index.ts'
import { textOf } from '../../core/index.ts'
import { probeModel } from './probe-folder.ts'
import type { Script, Situation } from './script.ts'

/** Turns after which a script ends by itself, where an environment would let it go on. */
const mostTurns = 16

/** Plays scripts in the seat of a run: which one, each order was given before it is played. */
export class ScriptPlayer {
  readonly model: Model
  private readonly scripts = new Map<string, Script>()

  constructor() {
    this.model = {
      id: probeModel,
      priced: true,
      costOf: () => 0,
      generate: async (request, { task, repeat, signal }) => {
        signal.throwIfAborted()
        const script = this.scripts.get(keyOf(task, repeat))
        const situation = situationOf(request)
        const act = situation.turn < mostTurns ? script?.next(situation) : undefined
        const calls = (act?.calls ?? []).map(({ name, arguments: given }, at) => ({
          id: `call_${situation.turn}_${at}`,
          name,
          arguments: JSON.stringify(given),
        }))
        const message: AssistantMessage = {
          role: 'assistant',
          content: act?.text ?? '',
          ...(calls.length === 0 ? {} : { toolCalls: calls }),
        }
        return {
          message,
          finish: calls.length === 0 ? 'stop' : 'tool_calls',
          costUsd: 0,
          ...(act === undefined ? { ended: true } : {}),
        }
      },
    }
  }

  give({ task, repeat }: { task: string; repeat: number }, script: Script): void {
    this.scripts.set(keyOf(task, repeat), script)
  }

  take({ task, repeat }: { task: string; repeat: number }): void {
    this.scripts.delete(keyOf(task, repeat))
  }
}

function keyOf(task: string | undefined, repeat: number | undefined): string {
  return JSON.stringify([task, repeat])
}

function situationOf({ messages, tools = [] }: ModelRequest): Situation {
  const told = messages.filter(({ role }) => role === 'user' || role === 'tool')
  return {
    system: messages.flatMap((said) => (said.role === 'system' ? [textOf(said.content)] : [])).join('\n'),
    prompt: textOf(told[0]?.content),
    told: textOf(told.at(-1)?.content),
    turn: messages.filter(({ role }) => role === 'assistant').length,
    tools,
  }
}
