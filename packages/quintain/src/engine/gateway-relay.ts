import { type BoxNetwork, type BoxSocket, boxGateway, type SandboxDriver } from '../core/index.ts'

/**
 * The network of a world's box with a way to the run's gateway (`boxGateway`), where boxes of the driver have sockets. A
 * gateway knows by its credentials who asks, so that all boxes of a run may reach the same one.
 */
export async function withGateway(
  { isolation }: SandboxDriver,
  network: BoxNetwork | undefined,
  socketOf: () => Promise<string>,
): Promise<BoxNetwork | undefined> {
  const box = gatewayIn(isolation)
  if (box === undefined) return network
  const own = network === undefined || network === 'none' ? [] : network.sockets
  return { sockets: [...own, { box, host: { path: await socketOf() } }] }
}

function gatewayIn(isolation: SandboxDriver['isolation']): BoxSocket['box'] | undefined {
  switch (isolation) {
    case 'namespaces':
      return { port: boxGateway.port }
    case 'container':
      return { path: boxGateway.socketPath }
    default:
      return undefined
  }
}
