import { playerName } from '../core/index.ts'
import type { RunPreview } from '../engine/index.ts'
import { countText, durationText, plural, printableLine } from '../report/index.ts'
import { detectText, precisionText, type WantedChange } from './plan-notes.ts'

/** What a run would do, for `--dry-run`, and who else would play the same plan. Nothing was ordered. */
export function formatPreview(
  preview: RunPreview,
  { others = [], detect }: { others?: readonly RunPreview[]; detect?: WantedChange | undefined } = {},
): string {
  const {
    environment,
    description,
    seats,
    judges,
    tasks,
    splits,
    repeats,
    orders,
    examples,
    needs,
    isolation,
  } = preview
  const { limits, permissions } = description
  const rows: [string, string][] = [
    ['environment', `${environment.name} ${environment.version}, digest ${environment.digest.slice(0, 16)}`],
    ['options', JSON.stringify(environment.options)],
    ...Object.entries(seats).map(([seat, who]): [string, string] => [seat, playerName(who)]),
    ...Object.entries(judges).map(([judge, { policy }]): [string, string] => [`judge ${judge}`, policy]),
    ...others.flatMap(({ seats: { agent } }): [string, string][] =>
      agent === undefined ? [] : [['in turn with', playerName(agent)]],
    ),
    ['orders', ordersText(tasks, repeats, orders, others.length + 1)],
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
    ['boxes', boxesText(preview)],
    [
      'permissions',
      Object.keys(permissions).length === 0 ? 'its own files only' : JSON.stringify(permissions),
    ],
    ['precision', environment.success ? precisionText({ tasks, repeats }) : ''],
    ['detect', detect === undefined ? '' : answerText(detect, preview)],
  ]
  const width = Math.max(...rows.map(([label]) => label.length))
  const lines = rows
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `  ${printableLine(label).padEnd(width)}  ${printableLine(value, 300)}`)
  return `${lines.join('\n')}\n\nDry run: nothing was ordered.\n`
}

function answerText(detect: WantedChange, { environment, repeats }: RunPreview): string {
  return environment.success
    ? detectText(detect, repeats)
    : 'this environment does not say what success is, so there is no rate whose change could be seen'
}

/** What its boxes run in, and what of them graders get to see. */
function boxesText({ sandbox, description }: RunPreview): string {
  if (sandbox === undefined) return ''
  const { image, artefacts = [] } = description.sandbox ?? {}
  return [
    `${sandbox.driver} (isolation: ${sandbox.isolation})`,
    ...(image === undefined ? [] : [`image ${image}`]),
    ...(artefacts.length === 0 ? [] : [`artefacts ${artefacts.join(', ')}`]),
  ].join(', ')
}

function ordersText(tasks: number, repeats: number, orders: number, runs: number): string {
  const one = `${plural(tasks, 'task')} x ${repeats} = ${countText(orders)}`
  return runs === 1 ? one : `${one} for each of ${runs}, ${countText(orders * runs)} in all`
}

function limitsText(limits: RunPreview['description']['limits']): string {
  return Object.entries(limits)
    .flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
    .map(([name, value]) =>
      name.endsWith('Ms') ? `${name.slice(0, -2)} ${durationText(value)}` : `${name} ${value}`,
    )
    .join(', ')
}
