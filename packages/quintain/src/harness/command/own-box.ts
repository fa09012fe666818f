import {
  type Box,
  type BoxFiles,
  type BoxLimits,
  type BoxMount,
  type BoxSocket,
  boxGateway,
  type ModelAddress,
  type SandboxDriver,
} from '../../core/index.ts'
import { asSeatStop } from '../fault-stop.ts'
import type { ToolAddress } from '../tools/served-tools.ts'

/** Ports in the box, beside the gateway's: no program is told of them but by its variables. */
const toolsPort = boxGateway.port + 1
const mcpPort = boxGateway.port + 2
/** A program's wall clock is the attempt's; a box that would end it earlier is no help. */
const wallMs = 24 * 60 * 60_000

/** How a box of the program's own reaches what it may reach. */
export interface BoxLinks {
  gateway: string
  tools: string
  mcp: string
}

export const boxLinks: BoxLinks = {
  gateway: `http://127.0.0.1:${boxGateway.port}`,
  tools: `http://127.0.0.1:${toolsPort}`,
  mcp: `http://127.0.0.1:${mcpPort}`,
}

/** Starts a box with no network but the way to the gateway, the tools and the world's own endpoints. */
export async function startOwnBox(options: {
  driver: SandboxDriver
  files: BoxFiles
  mounts: readonly BoxMount[]
  limits: Partial<BoxLimits>
  model: ModelAddress | undefined
  tools: ToolAddress | undefined
  mcp: ToolAddress | undefined
  endpoints: Readonly<Record<string, string>>
  label: string
  signal: AbortSignal
}): Promise<Box> {
  const { model, tools, mcp } = options
  const sockets: BoxSocket[] = []
  if (model !== undefined) sockets.push({ box: { port: boxGateway.port }, host: { path: model.socketPath } })
  if (tools !== undefined) sockets.push({ box: { port: toolsPort }, host: { port: tools.port } })
  if (mcp !== undefined) sockets.push({ box: { port: mcpPort }, host: { port: mcp.port } })
  for (const port of endpointPorts(options.endpoints)) sockets.push({ box: { port }, host: { port } })
  try {
    return await options.driver.start({
      files: options.files,
      mounts: options.mounts,
      limits: { wallMs, cpuMs: wallMs, ...options.limits },
      label: options.label,
      signal: options.signal,
      ...(sockets.length === 0 ? {} : { network: { sockets } }),
    })
  } catch (thrown) {
    throw asSeatStop(thrown)
  }
}

/** Ports of this machine in the world's endpoints: the same addresses hold in the box. */
function endpointPorts(endpoints: Readonly<Record<string, string>>): Set<number> {
  const ports = new Set<number>()
  for (const value of Object.values(endpoints)) {
    const url = URL.parse(value)
    const port = Number(url?.port)
    if (url !== null && /^(localhost|127\.0\.0\.1)$/.test(url.hostname) && port >= 1024) ports.add(port)
  }
  return ports
}
