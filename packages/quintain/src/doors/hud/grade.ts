import type { ServedEnvironment, Settled } from '../session/session.ts'
import { RpcError, rpc } from './frames.ts'

interface SubScore {
  name: string
  weight: number
  value: number
}

/** What `tasks.grade` gives for an episode with a number. */
export interface GradeResult {
  score: number
  done: true
  content: string | null
  info: Record<string, unknown>
  isError: false
  subscores: SubScore[]
}

/**
 * The verdict as HUD reads it. A result of HUD cannot be without a number, so an episode that has none is an error, which
 * its runner leaves out of the mean. Clients refuse subscores outside of 0 to 1; such rewards stand in `info` alone.
 */
export function gradeOf(settled: Settled, environment: ServedEnvironment): GradeResult {
  if (settled.kind === 'failed') {
    const { owner, stage, code, message } = settled.fault
    const text = `The episode has no score: fault "${code}" of the ${owner} in ${stage}: ${message}`
    throw new RpcError(rpc.failed, text.slice(0, 2_000), `fault:${owner}:${code}`)
  }
  if (settled.kind === 'unscored')
    throw new RpcError(
      rpc.failed,
      `The episode has no score: ${settled.reason}.`,
      `unscored:${settled.reason}`,
    )
  const { reward, success, rewards, metrics, outcome, stop } = settled
  const known = Object.entries(rewards).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]))
  const within = known.filter(({ value }) => value >= 0 && value <= 1)
  return {
    score: reward,
    done: true,
    content: stop ?? null,
    info: { success, outcome, rewards, metrics },
    isError: false,
    subscores: within.map(({ name, value }) => ({ name, weight: environment.rewards[name] ?? 0, value })),
  }
}

/** What an agent answered, as text: HUD sends whatever its agent left behind. Undefined where that is nothing. */
export function answerOf(answer: unknown): string | undefined {
  if (answer === undefined || answer === null || answer === '') return undefined
  return typeof answer === 'string' ? answer : JSON.stringify(answer)
}
