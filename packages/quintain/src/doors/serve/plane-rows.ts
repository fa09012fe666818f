import type { Need } from '../../core/index.ts'
import type { Door } from './door.ts'

/** What the table of planes says of a door. */
export interface PlaneRow {
  door: string
  title: string
  authentication: string
  /** Environments at one address. */
  origin: 'one' | 'many'
  /** Tools of agents, and tasks, resets and grades, come by one address. */
  merges: boolean
  /** Who may be given its address. */
  for: string
  /** Where it may listen. */
  listens: string
  /** Needs of environments that it does not carry. */
  lacks: Need[]
  unscored: Door['unscored']
}

/** The table of planes, from what the doors say of themselves. */
export function planeRows(doors: readonly Door[]): PlaneRow[] {
  return doors.map(({ name, title, plane, carries, unscored }) => ({
    door: name,
    title,
    authentication: plane.authentication,
    origin: plane.origin,
    merges: plane.merges,
    for: plane.merges ? 'trainers only' : 'agents: the agent plane; trainers: the control plane',
    listens: plane.merges ? 'loopback, or anywhere with a token' : 'loopback',
    lacks: (Object.keys(carries) as Need[]).filter((need) => !carries[need]),
    unscored,
  }))
}

/** The same as cells of a table: head first. */
export function planeCells(doors: readonly Door[]): string[][] {
  const rows = planeRows(doors)
  return [
    [
      'door',
      'authentication',
      'one address has',
      'planes',
      'its address is for',
      'listens on',
      'without a number',
    ],
    ...rows.map((row) => [
      row.door,
      row.authentication,
      row.origin === 'one' ? 'one environment' : 'all environments',
      row.merges ? 'merged' : 'apart',
      row.for,
      row.listens,
      { error: 'an error', mask: 'a mark to leave it out', null: 'a null' }[row.unscored],
    ]),
  ]
}
