import type { Gateway } from '../../packages/quintain/src/gateway/index.ts'
import type { Installed } from './install.ts'
import type { LlamaServer } from './server.ts'

/** What all checks share. */
export interface Place {
  installed: Installed
  server: LlamaServer
  gateway: Gateway
}

/** Throws where something is not as it should be. */
export interface Check {
  name: string
  carryOut(place: Place): Promise<void>
}
