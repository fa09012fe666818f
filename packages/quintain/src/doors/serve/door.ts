import type { Need } from '../../core/index.ts'
import type { ServedEnvironment, SessionCore } from '../session/session.ts'
import type { Loss } from './loss.ts'

export type DoorName = 'ors' | 'openenv' | 'nemo-gym' | 'hud' | 'native'

/** How a protocol keeps what an agent may reach from what it must not. */
export interface DoorPlane {
  /** How clients show who they are, in a few words, for the table. */
  authentication: string
  /** Environments at one address. */
  origin: 'one' | 'many'
  /**
   * Agents' tools and tasks, resets and grades come by one address. Such a door is for trainers only: it listens on loopback
   * or asks for a token, and no agent is given its address.
   */
  merges: boolean
}

/** What a door is, before it is opened. */
export interface Door {
  readonly name: DoorName
  /** What people call it. */
  readonly title: string
  readonly plane: DoorPlane
  /** Needs of an environment that it meets. */
  readonly carries: Readonly<Record<Need, boolean>>
  /**
   * What clients of this protocol see of an episode without a number: its error form, a marker that they must honour, or
   * nothing but a null.
   */
  readonly unscored: 'error' | 'mask' | 'null'
  /** What is lost of an environment behind this door although it can be carried. */
  losses(environment: ServedEnvironment): Loss[]
  /** Throws `usage` for an address that cannot be had. */
  open(cores: readonly SessionCore[], options: DoorOptions): Promise<OpenDoor>
}

export interface DoorOptions {
  /** Where to listen; anything but loopback needs a token where the door merges planes. */
  host: string
  /** Port of the first address, 0 for any that is free; doors with one environment an address take the ones after it. */
  port: number
  /** What clients must show, where it is given. */
  token?: string
  /** Names other than those of loopback by which requests may call this machine. */
  names?: ReadonlySet<string>
  log(line: string): void
}

export interface DoorAddress {
  /** Slugs of the environments there. */
  environments: readonly string[]
  /** What a client is given: `http://127.0.0.1:8000`, `tcp://127.0.0.1:8765`. */
  url: string
  /** Reached by agents, or by trainers only. */
  plane: 'agent' | 'control' | 'both'
}

export interface OpenDoor {
  readonly addresses: readonly DoorAddress[]
  /** Ends connections and listening. Sessions are the cores' own. */
  close(): Promise<void>
}
