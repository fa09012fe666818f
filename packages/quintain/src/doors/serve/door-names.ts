import { didYouMean, QuintainError } from '../../core/index.ts'
import type { Door, DoorName } from './door.ts'

/** Doors are loaded when they are named: each brings its protocol's code along. */
const loaders: Readonly<Record<DoorName, () => Promise<Door>>> = {
  ors: async () => (await import('../ors/door.ts')).orsDoor,
  openenv: async () => (await import('../openenv/door.ts')).openEnvDoor,
  'nemo-gym': async () => (await import('../nemo-gym/door.ts')).nemoGymDoor,
  hud: async () => (await import('../hud/door.ts')).hudDoor,
  native: async () => (await import('../native/door.ts')).nativeDoor,
}

/** Names of all doors, as they are typed. */
export const doorNames: readonly DoorName[] = Object.keys(loaders) as DoorName[]

/** A door by its name. Throws `usage` for a name that none has, with the nearest. */
export async function loadDoor(name: string): Promise<Door> {
  if (Object.hasOwn(loaders, name)) return loaders[name as DoorName]()
  throw new QuintainError(
    'usage',
    `${JSON.stringify(name)} is no door${didYouMean(name, doorNames)} Doors: ${doorNames.join(', ')}. --doors says what each is.`,
    { facts: { name } },
  )
}

/** All doors, in the order of `doorNames`. */
export async function allDoors(): Promise<Door[]> {
  return Promise.all(doorNames.map(loadDoor))
}
