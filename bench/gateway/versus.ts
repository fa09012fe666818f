import { median } from '../measurement.ts'
import { type Call, Load } from './load.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** Calls at a time at saturation; streams last a tenth of a second by themselves. */
const lanes = { whole: 64, stream: 384 }
const saturateMs = 4_000
const rateMs = 6_000
const leases = 2_000

/** One round: the model server alone, the proxy before it, ours before it. */
export interface Round {
  /** Calls per second at saturation, and milliseconds of processor time of one call. */
  saturation: { proxy: number; ours: number }
  cpuMs: { proxy: number; ours: number }
  /** Median milliseconds that are added to the model server's own at half of our saturation. */
  addedFirst: { proxy: number; ours: number }
  addedTotal: { proxy: number; ours: number }
}

/** Measures the proxy and the gateway in front of one model server, one after the other. */
export async function versus(options: { stream: boolean; promptChars: number }): Promise<Round> {
  const { stream } = options
  const upstream = await startServer('upstream-main', stream ? ['20', '5'] : [])
  const proxy = await startServer('proxy-main', [String(upstream.port)])
  const ours = await startServer('gateway-main', [String(upstream.port), String(leases)])
  const loads = [upstream, proxy, ours].map((server) => new Load(server, options))
  const [direct, viaProxy, viaOurs] = loads as [Load, Load, Load]
  try {
    for (const load of loads) await load.saturate(stream ? lanes.stream : lanes.whole, 1_500)
    const proxied = await saturated(viaProxy, proxy, stream)
    const gated = await saturated(viaOurs, ours, stream)
    const rate = gated.perSecond / 2
    const alone = medians(await direct.atRate(rate, rateMs))
    const behindProxy = medians(await viaProxy.atRate(rate, rateMs))
    const behindOurs = medians(await viaOurs.atRate(rate, rateMs))
    return {
      saturation: { proxy: proxied.perSecond, ours: gated.perSecond },
      cpuMs: { proxy: proxied.cpuMs, ours: gated.cpuMs },
      addedFirst: { proxy: behindProxy.first - alone.first, ours: behindOurs.first - alone.first },
      addedTotal: { proxy: behindProxy.total - alone.total, ours: behindOurs.total - alone.total },
    }
  } finally {
    for (const load of loads) await load.close()
    for (const server of [ours, proxy, upstream]) await server.close()
  }
}

async function saturated(
  load: Load,
  server: ServerProcess,
  stream: boolean,
): Promise<{ perSecond: number; cpuMs: number }> {
  const before = await server.cpuMs()
  const perSecond = await load.saturate(stream ? lanes.stream : lanes.whole, saturateMs)
  const spent = (await server.cpuMs()) - before
  return { perSecond, cpuMs: spent / ((perSecond * saturateMs) / 1000) }
}

function medians(calls: readonly Call[]): { first: number; total: number } {
  return {
    first: median(calls.map(({ firstMs }) => firstMs)),
    total: median(calls.map(({ totalMs }) => totalMs)),
  }
}
