import { type Environment, environment, type Schema, tool } from '../../../core/index.ts'

/** What stands in every secret, state and grader below, and must come out of no door. */
export const canary = 'CANARY-5e2b'

const anything: Schema = {
  '~standard': { version: 1, vendor: 'fixture', validate: (value: unknown) => ({ value }) },
}

const tasks = ['train', 'test'].flatMap((split) =>
  [0, 1].map((at) => ({
    id: `${split}-${at}`,
    split,
    prompt: `Question ${at}?`,
    data: { at },
    secret: { gold: `${canary}-gold-${at}`, tests: [{ expected: `${canary}-test` }] },
  })),
)

const push = tool({
  name: 'push',
  description: 'Pushes the button.',
  input: { schema: anything, jsonSchema: { type: 'object' } },
  run: () => 'It went in.',
})

/** Environments with secrets wherever one may stand. The right thing to say is `right` in all of them. */
export const planted: Readonly<Record<string, Environment>> = {
  quiz: environment({
    needs: [],
    tasks,
    rewards: { exact: ({ transcript }) => Number(transcript.answer === 'right') },
    metrics: { gold: ({ task }) => task.secret.gold.length },
  }) as unknown as Environment,
  buttons: environment({
    needs: ['tools'],
    tasks,
    world: (task) => ({
      open: () => 'There is a button.',
      tools: () => [push],
      finish: () => ({ gold: task.secret.gold }),
    }),
    rewards: { exact: ({ state, transcript }) => Number(state.gold !== '' && transcript.answer === 'right') },
    success: ({ rewards }) => rewards.exact === 1,
  }) as unknown as Environment,
  talk: environment({
    needs: ['turns', 'tools'],
    tasks,
    world: (task) => ({
      open: () => 'Speak.',
      tools: () => [push],
      reply: (said) =>
        said === 'right' ? { content: 'Yes.', done: 'said', reward: 1 } : { content: 'No.', reward: 0 },
      finish: () => ({ gold: task.secret.gold }),
    }),
    rewards: { exact: ({ state }) => Number(state.gold !== '') },
  }) as unknown as Environment,
  unfit: environment({
    needs: [],
    tasks,
    rewards: {
      exact: ({ task }): number => {
        throw new Error(`the grader cannot read ${task.secret.gold}`)
      },
    },
  }) as unknown as Environment,
  shut: environment({
    needs: ['tools'],
    tasks,
    world: (task) => ({
      open: (): string => {
        throw new Error(`there is no room for ${task.secret.gold}`)
      },
      tools: () => [push],
      finish: () => null,
    }),
    rewards: { exact: () => 1 },
  }) as unknown as Environment,
}
