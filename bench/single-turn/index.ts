import { environment } from 'quintain'
import { z } from 'zod'
import { promptText } from './text.ts'

/** One question, one answer, one reward: what is left is the engine's own work. */
export default environment({
  options: z.object({
    tasks: z.int().min(1).default(10_000),
    promptChars: z.int().min(0).default(1_000),
  }),
  tasks: ({ options }) => ({
    size: options.tasks,
    at: (index: number) => ({
      id: `question-${index}`,
      prompt: promptText(index, options.promptChars),
      secret: { answer: 'done' },
    }),
  }),
  rewards: {
    exact: ({ task, transcript }) => Number(transcript.answer.endsWith(task.secret.answer)),
  },
  success: ({ rewards }) => rewards.exact === 1,
})
