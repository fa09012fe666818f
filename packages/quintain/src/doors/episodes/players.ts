import { nemoRow } from '../nemo-gym/rows.ts'
import type { SessionCore } from '../session/session.ts'
import { hudPlayer } from './clients/hud.ts'
import { nativePlayer } from './clients/native.ts'
import { nemoGymPlayer } from './clients/nemo-gym.ts'
import { openEnvPlayer } from './clients/openenv.ts'
import { orsPlayer } from './clients/ors.ts'
import { sessionPlayer } from './clients/session.ts'
import type { Player, Way } from './episode-client.ts'

export interface Reached {
  core: SessionCore
  /** Where the door listens. */
  url: string
}

const players: Readonly<Record<Way, (reached: Reached) => Player>> = {
  session: ({ core }) => sessionPlayer(core),
  native: ({ url }) => nativePlayer(url),
  ors: ({ url }) => orsPlayer(url),
  openenv: ({ url }) => openEnvPlayer(url),
  'nemo-gym': ({ core, url }) => nemoGymPlayer(async (id) => nemoRow(core, await core.task({ id })), url),
  hud: ({ url }) => hudPlayer(url),
}

/** A client of a door, or of sessions themselves. */
export function playerOf(way: Way, reached: Reached): Player {
  return players[way](reached)
}
