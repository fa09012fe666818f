import { environment } from 'quintain'
import { z } from 'zod'
import { customer, customerSystem } from './customer.ts'
import { Desk } from './desk.ts'
import { conduct, judge } from './grading.ts'
import { oracle } from './oracle.ts'
import { floorPolicies, policies } from './policies.ts'
import { system } from './policy.ts'
import { scenarioOfTask, tasks } from './tasks.ts'

export { floorPolicies } from './policies.ts'
export { type RuleName, rules } from './policy.ts'

const options = z.object({
  /** How many generated tasks come after the twenty of the `test` split; they are the split `train`. */
  generated: z.int().min(0).max(10_000_000).default(1_000),
  /** Another seed generates other tasks. The twenty stay what they are. */
  seed: z.int().default(0),
})

export default environment({
  options,
  system,
  tasks: ({ options }) => tasks(options),
  limits: { turns: 60 },
  needs: ['turns', 'tools', 'seats'],
  first: 'customer',
  seats: {
    customer: {
      system: ({ task }) => customerSystem(scenarioOfTask(task.secret).caller),
      play: ({ task }) => customer(scenarioOfTask(task.secret).caller),
    },
  },

  world: (task, { rng }) => new Desk(scenarioOfTask(task.secret), rng),

  rewards: {
    solved: ({ task, state }) => {
      const { solved, against } = judge(scenarioOfTask(task.secret), state)
      return { value: Number(solved), explain: against }
    },
    conduct: { weight: 0.2, reward: ({ task, state }) => conduct(scenarioOfTask(task.secret), state) },
  },
  metrics: {
    told: ({ task, state }) => {
      const { told } = judge(scenarioOfTask(task.secret), state)
      return told.filter(Boolean).length / told.length
    },
    differences: ({ task, state }) => judge(scenarioOfTask(task.secret), state).differences.length,
    breaches: ({ state }) => state.breaches.length,
    withoutConsent: ({ state }) => state.writes.filter(({ consented }) => !consented).length,
  },
  success: ({ rewards }) => rewards.solved === 1,

  oracle: ({ task }) => oracle(scenarioOfTask(task.secret)),
  policies,
  floor: floorPolicies,
})
