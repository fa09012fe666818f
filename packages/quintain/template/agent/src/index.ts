import { environment, readTasks } from 'quintain'
import { z } from 'zod'

/** The number that an answer consists of, or ends with; undefined when there is none. */
export function numberIn(answer: string): number | undefined {
  const last = answer
    .replaceAll(',', '')
    .match(/-?\d+(?:\.\d+)?/g)
    ?.at(-1)
  return last === undefined ? undefined : Number(last)
}

// Your tasks are lines of tasks.jsonl: a prompt, and a secret that only the check sees. Replace them with real ones
// from your traffic: twenty that you have read are worth more than a thousand that you have not.
export default environment({
  tasks: () =>
    readTasks(new URL('../tasks.jsonl', import.meta.url), { secret: z.object({ answer: z.string() }) }),
  limits: { wall: '2m' },

  // The check. It gets the whole conversation in `transcript`, and judges the last thing that the agent said.
  rewards: {
    correct: ({ task, transcript }) => Number(numberIn(transcript.answer) === Number(task.secret.answer)),
  },
  success: ({ rewards }) => rewards.correct === 1,

  // Shows that every task can be solved, and that the check notices it.
  *oracle({ task }) {
    yield task.secret.answer
  },
})
