import type { RunPreview } from '../engine/index.ts'
import { countText, durationText, plural, printableLine } from '../report/index.ts'
import { wilsonInterval } from '../stats/index.ts'

/** What a run would do, for `--dry-run`. Nothing was ordered. */
export function formatPreview(preview: RunPreview): string {
  const { environment, description, seats, tasks, splits, repeats, orders, examples, needs, isolation } =
    preview
  const { limits, permissions } = description
  const rows: [string, string][] = [
    ['environment', `${environment.name} ${environment.version}, digest ${environment.digest.slice(0, 16)}`],
    ['options', JSON.stringify(environment.options)],
    ...Object.entries(seats).map(([seat, { policy }]): [string, string] => [seat, policy]),
    ['orders', `${plural(tasks, 'task')} x ${repeats} = ${countText(orders)}`],
    [
      'splits',
      Object.entries(splits)
        .map(([name, count]) => `${name} ${countText(count)}`)
        .join(', '),
    ],
    ['tasks', examples.join(', ') + (tasks > examples.length ? ', …' : '')],
    [
      'rewards',
      Object.entries(environment.rewards)
        .map(
          ([name, { kind, weight }]) =>
            `${name} (weight ${weight}${kind === 'group' ? ', of the group' : ''})`,
        )
        .join(', '),
    ],
    ['limits', limitsText(limits)],
    ['needs', needs.join(', ') || 'nothing'],
    ['isolation', isolation],
    [
      'permissions',
      Object.keys(permissions).length === 0 ? 'its own files only' : JSON.stringify(permissions),
    ],
    ['precision', precisionText(tasks)],
  ]
  const width = Math.max(...rows.map(([label]) => label.length))
  const lines = rows
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `  ${printableLine(label).padEnd(width)}  ${printableLine(value, 300)}`)
  return `${lines.join('\n')}\n\nDry run: nothing was ordered.\n`
}

function limitsText(limits: RunPreview['description']['limits']): string {
  return Object.entries(limits)
    .flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
    .map(([name, value]) =>
      name.endsWith('Ms') ? `${name.slice(0, -2)} ${durationText(value)}` : `${name} ${value}`,
    )
    .join(', ')
}

/** How well a success rate would be known from so many tasks. */
function precisionText(tasks: number): string {
  const interval = wilsonInterval(tasks / 2, tasks)
  if (interval === null) return ''
  const half = (interval[1] - interval[0]) / 2
  return `a success rate near 0.5 would be known to ± ${half.toFixed(2)} (95 %, Wilson, one attempt of ${plural(tasks, 'task')})`
}
