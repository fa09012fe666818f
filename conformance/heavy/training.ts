import type { SessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import type { hostile } from '../ors/hostile.ts'
import { type CalledEpisode, record } from '../ors/record.ts'

type Call = { name: string; input: Record<string, unknown> }

/** What the model says in the rollouts of a task, one after the other; null samples freely. */
export interface TrainedTask {
  id: string
  index: number
  /** Words by which its prompts are known. */
  opening: string
  rollouts: (readonly Call[] | null)[]
}

export interface TrainingOptions {
  core: SessionCore
  env: string | typeof hostile
  /** Folder of the run in which the oracle plays; it must not be there yet. */
  dir: string
  /** How this door's client writes a parameter called `from`, which is a keyword of Python. */
  from: string
}

/** Two steps of two rollouts each: a right one in both, then a wrong one and one that is left to chance. */
export async function trainingOf(
  name: string,
  { core, env, dir, from }: TrainingOptions,
): Promise<{ split: string; tasks: TrainedTask[] }> {
  if (typeof env !== 'string') return { split: 'train', tasks: await hostileTasks(core, from) }
  // Every task of Wordle begins with the same words.
  const tasks = name === 'wordle' ? 1 : 2
  const episodes = await record({ core, env, dir, policy: 'script:oracle', tasks })
  return {
    split: episodes[0]!.split,
    tasks: episodes.map(({ recorded, index, calls }) => {
      return {
        id: recorded.task,
        index,
        opening: recorded.opening.at(-1)!,
        rollouts: [plain(calls), wrong(calls), plain(calls), null],
      }
    }),
  }
}

function plain(calls: CalledEpisode['calls']): Call[] {
  return calls.map(({ name, input }) => ({ name, input }))
}

/** Ends at once with the last call, which says something else. */
function wrong(calls: CalledEpisode['calls']): Call[] {
  const { name, input } = calls.at(-1)!
  return [{ name, input: Object.fromEntries(Object.keys(input).map((key) => [key, 'nothing'])) }]
}

const say = (answer: string): Call => ({ name: 'submit_answer', input: { answer } })

async function hostileTasks(core: SessionCore, from: string): Promise<TrainedTask[]> {
  const read: Call = { name: 'read', input: { [from]: 1 } }
  const rollouts = {
    names: [[read, say('done')], [say('no')], [say('done')], null],
    broken: Array<Call[]>(4).fill([read, say('done')]),
    unscored: Array<Call[]>(4).fill([say('done')]),
  }
  return Promise.all(
    Object.entries(rollouts).map(async ([id, said]) => {
      const { index } = await core.task({ id })
      return { id, index, opening: `Do "${id}".`, rollouts: said }
    }),
  )
}
