import type { ToolSpec } from '../../core/index.ts'
import type { RolloutRun, TaskSummary } from '../../engine/index.ts'
import { playedRollout, type Try, toolsIn } from './played.ts'
import type { Script } from './script.ts'
import type { ScriptPlayer } from './script-player.ts'

/** Plays scripts on tasks, and keeps what came of it. */
export class Prober {
  readonly tries: Try[] = []
  /** Tools that agents had, as far as is known. */
  tools: readonly ToolSpec[] = []
  private readonly run: RolloutRun
  private readonly player: ScriptPlayer
  private readonly shadow: string | undefined
  private readonly signal: AbortSignal | undefined

  constructor(options: {
    run: RolloutRun
    player: ScriptPlayer
    shadow: string | undefined
    signal: AbortSignal | undefined
  }) {
    this.run = options.run
    this.player = options.player
    this.shadow = options.shadow
    this.signal = options.signal
  }

  /** Every script on every task, once. Throws the reason of the signal, and what cannot be recorded. */
  async play(scripts: readonly Script[], tasks: readonly TaskSummary[]): Promise<Try[]> {
    if (scripts.length === 0) return []
    const played = await Promise.all(
      tasks.map(async (task) => {
        const orders = await this.run.orderGroup(task, { size: scripts.length })
        const rollouts = await Promise.all(
          orders.map(async (order, at) => {
            const script = scripts[at]!
            this.player.give(order, script)
            const rollout = await this.run.play(order)
            this.player.take(order)
            return rollout && { rollout, script }
          }),
        )
        this.signal?.throwIfAborted()
        const whole = rollouts.filter((one) => one !== undefined)
        // Rewards that need the whole group are given when it is there.
        const graded = await this.run.gradeGroup(whole.map(({ rollout }) => rollout))
        for (const rollout of graded) if (this.tools.length === 0) this.tools = toolsIn(rollout)
        return graded.map((rollout, at) => ({
          ...playedRollout(rollout, this.shadow),
          script: whole[at]!.script,
        }))
      }),
    )
    const found = played.flat()
    this.tries.push(...found)
    return found
  }
}
