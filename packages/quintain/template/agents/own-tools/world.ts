import { createRng, environment } from 'quintain'
import { type Item, StockRoom } from './stock-room.ts'

const kinds = ['mug', 'lamp', 'rug', 'chair']

/** Ten purchases. The cheapest item of a kind is often one of which there are too few. */
function tasks() {
  return Array.from({ length: 10 }, (_, i) => {
    const id = `purchase-${i}`
    const rng = createRng(id)
    const items: Item[] = kinds.flatMap((kind) =>
      rng.shuffle([8, 12, 20, 35]).map((euros, n) => ({
        sku: `${kind.toUpperCase()}-${n + 1}`,
        kind,
        price: euros * 100,
        stock: rng.int(6),
      })),
    )
    const kind = rng.pick(kinds)
    const count = 1 + rng.int(3)
    const enough = items.filter((item) => item.kind === kind && item.stock >= count)
    const [cheapest] = enough.sort((a, b) => a.price - b.price)
    return {
      id,
      prompt: `Order ${count} of the cheapest ${kind} of which there are enough, all of one kind. Order nothing if there is none.`,
      data: { kind },
      secret: { items, order: cheapest === undefined ? [] : [{ sku: cheapest.sku, count }] },
    }
  })
}

export default environment({
  tasks,
  limits: { turns: 8, wall: '2m' },
  world: (task) => StockRoom.open(task.secret.items),
  rewards: {
    ordered: ({ state, task }) => Number(JSON.stringify(state.orders) === JSON.stringify(task.secret.order)),
  },
  success: ({ rewards }) => rewards.ordered === 1,

  // Plays the model of the agent, so it calls the agent's own tools.
  *oracle({ task }) {
    yield { tool: 'find_items', arguments: { kind: task.data.kind } }
    for (const wanted of task.secret.order) yield { tool: 'place_order', arguments: wanted }
    return 'That is done.'
  },
})
