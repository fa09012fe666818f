/**
 * The table of seeds: does training beat its controls on secrets that it never saw? `node bench/train/seeds.ts
 * [--game code|higher-lower|words] [--seeds 1,2,3,4,5] [--out FOLDER]` trains from each seed by the commands that a user would type, gives the
 * controls as much work of the processors, measures all on the test split, and prints the tables in Markdown. With a folder that it has
 * begun before it goes on where it was.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { machineLines } from '../machine.ts'
import { seedArms } from './arms.ts'
import { type Game, type GameName, games } from './games.ts'
import { tables } from './tables.ts'

const { values } = parseArgs({
  options: {
    game: { type: 'string', default: 'code' },
    seeds: { type: 'string', default: '1,2,3,4,5' },
    out: { type: 'string' },
  },
})
const isGame = (name: string): name is GameName => Object.hasOwn(games, name)
const name = values.game
if (!isGame(name)) {
  process.stderr.write(`There is no game "${name}"; there are ${Object.keys(games).join(', ')}.\n`)
  process.exit(2)
}
const seeds = values.seeds.split(',').map((seed) => seed.trim())
const out = values.out ?? join('runs', `train-${name}`)
const game: Game = games[name]
game.prepare?.()
const all = []
for (const seed of seeds) all.push(await seedArms(game, { seed, out: join(out, `seed-${seed}`) }))
process.stdout.write(`${[...machineLines(), '', ...tables(game, all)].join('\n')}\n`)
