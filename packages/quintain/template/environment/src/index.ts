import { createRng, environment, tool, toolError } from 'quintain'
import { z } from 'zod'

// A parcel desk. Somebody comes for a parcel; the agent looks it up, and hands it out.
// Replace the tasks, the world and the rewards with your own; keep the shape.

interface Parcel {
  id: string
  name: string
  /** The code that was sent to the person it belongs to. */
  code: string
}

/** What a run leaves behind, and all that a reward sees of the world. Plain data: it is written down as JSON. */
interface State {
  handedOut: string[]
  lookups: number
}

/**
 * The state an agent acts on. Each attempt gets a fresh one, so nothing has to be reset. Take randomness from the `rng`
 * and time from the `clock` that `world` gets, never from Math.random() or Date: then eight attempts at a task are
 * attempts at the same task.
 */
class Desk {
  readonly #parcels: readonly Parcel[]
  readonly #state: State = { handedOut: [], lookups: 0 }

  constructor(parcels: readonly Parcel[]) {
    this.#parcels = parcels
  }

  tools() {
    return [
      tool({
        name: 'find_parcels',
        description: 'Lists the parcels that wait for a person, with their codes.',
        input: z.object({ name: z.string().describe('First name and family name.') }),
        run: ({ name }) => {
          this.#state.lookups++
          const found = this.#parcels.filter((parcel) => parcel.name === name)
          // What an agent got wrong is something it reads and can act on. Throw only for faults of the world itself.
          if (found.length === 0) return toolError('nobody', `No parcel waits for ${JSON.stringify(name)}.`)
          return found.map((parcel) => `${parcel.id}: code ${parcel.code}`).join('\n')
        },
      }),
      tool({
        name: 'hand_out',
        description: 'Hands a parcel out. This cannot be undone, and the person leaves with it.',
        input: z.object({ parcel: z.string() }),
        run: ({ parcel }) => {
          if (!this.#parcels.some(({ id }) => id === parcel))
            return toolError('no_such_parcel', `There is no parcel ${parcel}.`)
          this.#state.handedOut.push(parcel)
          return { content: `${parcel} is handed out.`, done: 'handed_out' }
        },
      }),
    ]
  }

  /** The last touch of the live world: settle and collect. */
  finish() {
    return this.#state
  }
}

/** Twenty desks. The seed is fixed, so `desk-07` is the same task in every run. */
function tasks() {
  return Array.from({ length: 20 }, (_, i) => {
    const id = `desk-${String(i).padStart(2, '0')}`
    const rng = createRng(id)
    const names = rng.shuffle(['Ana Ruiz', 'Bo Lind', 'Cleo Marsh', 'Dov Stern']).slice(0, 2)
    const codes = rng.shuffle(Array.from({ length: 90 }, (_, n) => String(10 + n)))
    const parcels: Parcel[] = rng
      .shuffle([...names, ...names, ...names])
      .map((name, n) => ({ id: `P-${n + 1}`, name, code: codes[n]! }))
    const wanted = rng.pick(parcels)
    return {
      id,
      split: i < 10 ? 'test' : 'train',
      prompt: `${wanted.name} is at the desk, with the code ${wanted.code}. Hand out the right parcel.`,
      // Anybody may see `data`: the agent, a listing, whoever downloads the results.
      data: { name: wanted.name, code: wanted.code },
      // Nobody may see `secret`: it goes to the world and the rewards only.
      secret: { parcels, parcel: wanted.id },
    }
  })
}

export default environment({
  system: 'You work at a parcel desk. Use the tools.',
  tasks,
  limits: { turns: 8, wall: '2m' },
  needs: ['tools'],

  world: (task) => new Desk(task.secret.parcels),

  // Rewards judge what was left behind, after the agent is gone. Judge the state, not what the agent says it did.
  rewards: {
    delivered: ({ state, task }) =>
      Number(state.handedOut.length === 1 && state.handedOut[0] === task.secret.parcel),
  },
  // Metrics are reported beside the reward and count for nothing.
  metrics: {
    lookups: ({ state }) => state.lookups,
  },
  success: ({ rewards }) => rewards.delivered === 1,

  // The oracle shows that every task can be solved, and that the rewards notice it. It may use the secret.
  *oracle({ task }) {
    yield { tool: 'hand_out', arguments: { parcel: task.secret.parcel } }
  },

  // Policies see what an agent sees. They say what a score is worth: a model should beat `random` and come near `careful`.
  policies: {
    *random({ rng }) {
      yield { tool: 'hand_out', arguments: { parcel: `P-${rng.int(6) + 1}` } }
    },
    *careful({ task }) {
      const { name, code } = task.data
      const seen = yield { tool: 'find_parcels', arguments: { name } }
      const line = seen.text.split('\n').find((text) => text.endsWith(`code ${code}`))
      if (line === undefined) return 'I cannot find the parcel.'
      yield { tool: 'hand_out', arguments: { parcel: line.split(':')[0] } }
    },
  },
})
