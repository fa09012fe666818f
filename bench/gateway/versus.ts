import { median } from '../measurement.ts'
import { type Call, Load } from './load.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** Calls at a time at saturation; streams last a tenth of a second by themselves. */
const lanes = { whole: 64, stream: 384 }
/** Servers run for hours: they are measured once they are warm, which ours, with more code, takes longer to be. */
const warmMs = 10_000
const saturateMs = 1_500
const rateMs = 2_000
const leases = 2_000

/** How fast the proxy and ours were under as many calls as they take. */
export interface Saturated {
  /** Calls per second. */
  perSecond: { proxy: number; ours: number }
  /** Milliseconds of processor time of one call. */
  cpuMs: { proxy: number; ours: number }
}

/** Median milliseconds that were added to the model server's own, at half of our saturation, and by the proxy at half of its own. */
export interface Added {
  first: { proxy: number; ours: number; proxyAtItsHalf: number }
  total: { proxy: number; ours: number; proxyAtItsHalf: number }
}

/**
 * Measures the proxy and the gateway in front of one model server in short rounds, in which they take turns: what else
 * the machine does meets them alike.
 */
export async function versus(options: {
  stream: boolean
  promptChars: number
  rounds: number
}): Promise<{ saturated: Saturated[]; added: Added[] }> {
  const { stream, rounds } = options
  const most = stream ? lanes.stream : lanes.whole
  const upstream = await startServer('upstream-main', stream ? ['20', '5'] : [])
  const proxy = await startServer('proxy-main', [String(upstream.port)])
  const ours = await startServer('gateway-main', [String(upstream.port), String(leases)])
  const loads = [upstream, proxy, ours].map((server) => new Load(server, options))
  const [direct, viaProxy, viaOurs] = loads as [Load, Load, Load]
  try {
    for (const load of loads) await load.saturate(most, warmMs)
    const saturated: Saturated[] = []
    for (let round = 0; round < rounds; round++) {
      const proxied = await saturate(viaProxy, proxy, most)
      const gated = await saturate(viaOurs, ours, most)
      saturated.push({
        perSecond: { proxy: proxied.perSecond, ours: gated.perSecond },
        cpuMs: { proxy: proxied.cpuMs, ours: gated.cpuMs },
      })
    }
    const rate = median(saturated.map(({ perSecond }) => perSecond.ours)) / 2
    const itsRate = median(saturated.map(({ perSecond }) => perSecond.proxy)) / 2
    const added: Added[] = []
    for (let round = 0; round < rounds; round++) {
      const alone = medians(await direct.atRate(rate, rateMs))
      const proxied = medians(await viaProxy.atRate(rate, rateMs))
      const gated = medians(await viaOurs.atRate(rate, rateMs))
      const aloneAtIts = medians(await direct.atRate(itsRate, rateMs))
      const proxiedAtIts = medians(await viaProxy.atRate(itsRate, rateMs))
      const addedTo = (what: 'first' | 'total') => ({
        proxy: proxied[what] - alone[what],
        ours: gated[what] - alone[what],
        proxyAtItsHalf: proxiedAtIts[what] - aloneAtIts[what],
      })
      added.push({ first: addedTo('first'), total: addedTo('total') })
    }
    return { saturated, added }
  } finally {
    for (const load of loads) load.close()
    for (const server of [ours, proxy, upstream]) await server.close()
  }
}

async function saturate(
  load: Load,
  server: ServerProcess,
  most: number,
): Promise<{ perSecond: number; cpuMs: number }> {
  const before = await server.cpuMs()
  const { calls, ms } = await load.saturate(most, saturateMs)
  return { perSecond: (calls * 1000) / ms, cpuMs: ((await server.cpuMs()) - before) / calls }
}

function medians(calls: readonly Call[]): { first: number; total: number } {
  return {
    first: median(calls.map(({ firstMs }) => firstMs)),
    total: median(calls.map(({ totalMs }) => totalMs)),
  }
}
