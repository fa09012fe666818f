import { type Box, boxGateway, type HarnessContext, type ModelAddress } from '../../core/index.ts'
import { bwrapDriver } from '../../sandbox/bwrap/driver.ts'
import { asSeatStop, platformFault } from '../fault-stop.ts'
import type { ToolAddress } from '../tools/served-tools.ts'
import { boxPlace } from './box-place.ts'
import { hostPlace } from './host-place.ts'
import type { CommandPlan } from './options.ts'
import { boxLinks, startOwnBox } from './own-box.ts'
import type { Place } from './place.ts'
import type { Links } from './variables.ts'

/** What a program may reach, by its addresses on this machine. */
export interface Reach {
  model: ModelAddress | undefined
  tools: ToolAddress | undefined
  mcp: ToolAddress | undefined
}

/** Opens the place where a plan's program runs. */
export async function openPlace(plan: CommandPlan, context: HarnessContext, reach: Reach): Promise<Place> {
  const { where, outputBytes } = plan
  const { signal, endpoints } = context
  switch (where.kind) {
    case 'host':
      try {
        return await hostPlace({
          files: plan.files,
          cwd: plan.cwd,
          outputBytes,
          graceMs: plan.graceMs,
          signal,
        })
      } catch (thrown) {
        throw asSeatStop(thrown)
      }
    case 'world':
      return boxPlace(worldBox(context), { outputBytes, close: async () => {} })
    case 'own': {
      const { driver } = where
      const { files, mounts, limits } = plan
      const label = `${plan.name} ${context.task.id}`
      const box = await startOwnBox({
        ...reach,
        driver: driver === 'bwrap' ? bwrapDriver() : driver,
        files,
        mounts,
        limits: { outputBytes, ...limits },
        endpoints,
        label,
        signal,
      })
      try {
        return await boxPlace(box, { outputBytes, close: () => box.stop() })
      } catch (thrown) {
        await box.stop()
        throw thrown
      }
    }
  }
}

/** The same addresses as the program reaches them from its place. */
export function linksAt(plan: CommandPlan, context: HarnessContext, reach: Reach): Links {
  const at = originsAt(plan, context, reach)
  const { model, tools, mcp } = reach
  return {
    model:
      model && at.gateway !== undefined
        ? {
            apiKey: model.apiKey,
            model: model.model,
            baseURL: `${at.gateway}${model.path}`,
            anthropicBaseURL: `${at.gateway}${model.path.replace(/\/v1$/, '')}`,
          }
        : undefined,
    tools: tools && at.tools && `${at.tools}${tools.path}`,
    mcp: mcp && at.mcp ? { url: `${at.mcp}${mcp.path}`, headers: mcp.headers } : undefined,
    endpoints: context.endpoints,
  }
}

interface Origins {
  gateway: string | undefined
  tools: string | undefined
  mcp: string | undefined
}

function originsAt({ where }: CommandPlan, context: HarnessContext, reach: Reach): Origins {
  const here: Origins = {
    gateway: reach.model && new URL(reach.model.baseURL).origin,
    tools: reach.tools && `http://127.0.0.1:${reach.tools.port}`,
    mcp: reach.mcp && `http://127.0.0.1:${reach.mcp.port}`,
  }
  if (where.kind === 'own') return boxLinks
  if (where.kind === 'host' || worldBox(context).isolation === 'none') return here
  // A box with walls reaches the gateway and nothing else of this machine.
  const { isolation, driver } = worldBox(context)
  if (isolation === 'namespaces')
    return { gateway: `http://127.0.0.1:${boxGateway.port}`, tools: undefined, mcp: undefined }
  if (reach.model === undefined) return { gateway: undefined, tools: undefined, mcp: undefined }
  throw platformFault(
    'gateway_unreachable',
    `a program in a box of ${driver} cannot reach the gateway as a base URL; run the world with the sandbox bwrap, or the program in a sandbox of its own`,
    false,
  )
}

function worldBox({ box }: HarnessContext): Box {
  if (box !== undefined && box.isolation !== 'memory') return box
  throw platformFault(
    'box_missing',
    box === undefined
      ? 'the agent is to run in the box of the world, and this world had started none; leave `box` out, or have the world start its box when it is made'
      : 'the agent is to run in the box of the world, which is an interpreter that starts no programs; run with another sandbox',
    false,
  )
}
