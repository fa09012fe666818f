/** Takes its time in every turn; or, for the task `stuck`, holds its process for good. */
import { setTimeout as pause } from 'node:timers/promises'
import { environment } from '../../../core/index.ts'

export default environment({
  tasks: [
    ...Array.from({ length: 120 }, (_, at) => ({ id: `slow-${at}`, split: 'slow' })),
    { id: 'stuck', split: 'stuck' },
  ],
  limits: { tool: '1h' },
  needs: ['turns'],
  world: (task) => {
    let turns = 0
    return {
      open: () => 'go',
      async reply() {
        if (task.id === 'stuck') for (;;);
        await pause(20)
        return ++turns < 3 ? { content: 'on' } : { content: 'done', done: 'enough' }
      },
      finish: () => ({ turns }),
    }
  },
  rewards: { turns: ({ state }) => state.turns },
  *oracle() {
    for (;;) yield 'more'
  },
})
