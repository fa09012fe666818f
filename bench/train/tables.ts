import type { Arm, Measured, SeedArms } from './arms.ts'
import type { Game } from './games.ts'

const percent = (share: number) => (100 * share).toFixed(1)
const withInterval = ({ success, interval }: Measured) =>
  `${percent(success)} [${interval.map(percent).join(', ')}]`
const temperatureText = (temperature: number) => (temperature === 0 ? 'greedy' : `T=${temperature}`)

/** How a policy played at a temperature. */
const at = ({ measured }: Arm, temperature: number): Measured =>
  measured.find((one) => one.temperature === temperature)!

/** The best that any control reached, at whatever temperature: what is to be beaten. */
function bestControl({ warm, longer, winners }: SeedArms): { arm: string; measured: Measured } {
  const controls = { 'warm start': warm, 'imitation for longer': longer, 'imitation of wins': winners }
  const all = Object.entries(controls).flatMap(([arm, { measured }]) =>
    measured.map((one) => ({ arm, measured: one })),
  )
  return all.reduce((best, one) => (one.measured.success > best.measured.success ? one : best))
}

/** Whether play at temperature 1 after training is above every control, 95 % intervals apart. */
const isApart = (arms: SeedArms) =>
  at(arms.trained, 1).interval[0] >
  Math.max(
    ...[arms.warm, arms.longer, arms.winners].flatMap(({ measured }) =>
      measured.map(({ interval }) => interval[1]),
    ),
  )

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

/** Success of every arm of every seed, what beats what, and the habits: Markdown. */
export function tables(game: Game, seeds: readonly SeedArms[]): string[] {
  const n = at(seeds[0]!.trained, 1).n
  const apart = seeds.filter(isApart).length
  const arms = [
    ['warm', 'warm start'],
    ['longer', 'imitation for longer'],
    ['winners', 'imitation of wins'],
    ['trained', '**trained**'],
  ] as const
  return [
    `${game.title}: success in per cent on ${n} test tasks, one game each, with 95 % intervals (Wilson).`,
    '',
    ...table(
      ['seed', 'best control', 'where', '**trained, T=1**', 'trained, T=0.5', 'trained, greedy', 'apart'],
      seeds.map((one) => {
        const { arm, measured } = bestControl(one)
        return [
          one.seed,
          withInterval(measured),
          `${arm}, ${temperatureText(measured.temperature)}`,
          `**${withInterval(at(one.trained, 1))}**`,
          withInterval(at(one.trained, 0.5)),
          withInterval(at(one.trained, 0)),
          isApart(one) ? 'yes' : 'no',
        ]
      }),
    ),
    '',
    `Above every control at every temperature, intervals apart: ${apart} of ${seeds.length} seeds.`,
    '',
    ...table(
      ['seed', 'policy', 'seconds of processors', 'T=1', 'T=0.7', 'T=0.5', 'greedy'],
      seeds.flatMap((one) =>
        arms.map(([key, name]) => {
          const arm = one[key]
          return [one.seed, name, arm.processorS.toFixed(0), ...arm.measured.map(withInterval)]
        }),
      ),
    ),
    '',
    'Habits at temperature 1, mean over the games of all seeds:',
    '',
    ...table(
      ['policy', ...Object.values(game.habits)],
      arms.map(([key, name]) => [
        name,
        ...Object.keys(game.habits).map((habit) => {
          const values = seeds.map((one) => at(one[key], 1).metrics[habit] ?? 0)
          return (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(3)
        }),
      ]),
    ),
  ]
}
