import type { Schema, Tool } from '../../core/index.ts'
import type { Mount, ToolServer } from '../../mcp/index.ts'
import type { Session } from '../session/session.ts'
import { callOver } from '../session/session-mcp.ts'

/** The name by which clients find the tools among an environment's capabilities. */
export const capabilityName = 'tools'

/** The core checks arguments, so that what is wrong with them is recorded. */
const anything: Schema = {
  '~standard': { version: 1, vendor: 'quintain', validate: (value: unknown) => ({ value }) },
}

/**
 * An address for the tools of whatever task `current` gives at the time: clients learn it before their task begins, and
 * keep it while they go from one task to another.
 */
export function mountTools(server: ToolServer, current: () => Session | undefined): Mount {
  return server.mount({
    tools: async () => {
      const session = current()
      return session === undefined ? [] : toolsOf(session)
    },
    // What a call may take is the environment's to say.
    callMs: 24 * 3600 * 1000,
  })
}

async function toolsOf(session: Session): Promise<Tool[]> {
  const { tools } = await session.opened()
  return tools.map((spec) => ({
    name: spec.name,
    description: spec.description,
    schema: anything,
    spec,
    run: (given: unknown) => callOver(session, spec.name, given ?? {}),
  }))
}

/** The capability as `hello` names it. */
export function capabilityOf(mount: Mount): object {
  return {
    name: capabilityName,
    protocol: 'mcp/2025-11-25',
    url: mount.url,
    params: { transport: 'streamable-http' },
  }
}
