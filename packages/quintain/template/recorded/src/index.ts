import { environment, readTasks, unscored } from 'quintain'
import { z } from 'zod'
import { changing, type Decision, decisions } from './decisions.ts'
import { changedAsWanted, toldAsWanted, whyUnscored } from './judge.ts'
import { RecordedWorld } from './recorded-world.ts'
import { recordingsOf, system, tools } from './recordings.ts'

/** What the recordings say of a task, and nobody who plays may see. `given` is what the file itself called secret. */
const secret = z.object({
  recorded: z.array(z.object({ repeat: z.number(), reward: z.number().nullable(), answer: z.string() })),
  given: z.unknown().optional(),
})

/** A task may be called what every object has a member of. */
function decisionOf(id: string): Decision | null {
  return Object.hasOwn(decisions, id) ? (decisions[id] ?? null) : null
}

/** The tasks that were found in the recordings, with what was decided of them in `decisions.ts`. */
async function tasks() {
  const found = await readTasks(new URL('../tasks.jsonl', import.meta.url), { secret })
  return found.map((task) => ({
    ...task,
    secret: { ...(task.secret ?? { recorded: [] }), done: decisionOf(task.id) },
  }))
}

export default environment({
  ...(system === '' ? {} : { system }),
  tasks,
  limits: { turns: __TURNS__, wall: '10m' },
  needs: tools.length > 0 ? ['turns', 'tools'] : ['turns'],
  world: ({ id }) => new RecordedWorld(recordingsOf(id), tools, changing),

  rewards: {
    // Everything that was decided, or nothing: an agent that did half of it has to be called again.
    done({ task, state, transcript }) {
      const { done } = task.secret
      const why = whyUnscored(done, state)
      if (done === null || why !== undefined) return unscored(why ?? 'to_decide')
      return Number(changedAsWanted(done, state.changed) && toldAsWanted(done, transcript.messages))
    },
  },
  success: ({ rewards }) => rewards.done === 1,

  metrics: {
    // Calls that no recording of the task has. Real tools in place of the recorded ones would answer them.
    not_recorded: ({ state }) => state.notRecorded,
    // Where a recording was played again to its end: does your decision come to the reward that was recorded?
    agrees_with_recorded({ task, state, transcript }) {
      const { done, recorded } = task.secret
      const reward = recorded.find(({ repeat }) => repeat === state.followed)?.reward ?? null
      if (done === null || reward === null || whyUnscored(done, state) !== undefined) return null
      const now = changedAsWanted(done, state.changed) && toldAsWanted(done, transcript.messages)
      return Number(now === (reward === 1))
    },
  },
})
