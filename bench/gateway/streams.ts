import { watchMemory } from '../process-memory.ts'
import { Load } from './load.ts'
import { startServer } from './server-process.ts'

/** Opens so many streams at once and reads them slowly on. Gives the most resident memory of the gateway, in MiB. */
export async function manyStreams(streams: number): Promise<{ idleMiB: number; mostMiB: number }> {
  // A piece of each every second, for ten seconds.
  const upstream = await startServer('upstream-main', ['10', '1000'])
  const gateway = await startServer('gateway-main', [String(upstream.port), String(streams), 'many'])
  const load = new Load(gateway, { stream: true, promptChars: 1_550 })
  const watch = watchMemory(gateway.pid, 100)
  try {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const before = performance.timeOrigin + performance.now()
    let open = 0
    let mostOpen = 0
    const stream = async (): Promise<void> => {
      await load.call(() => {
        open++
        mostOpen = Math.max(mostOpen, open)
      })
      open--
    }
    await Promise.all(Array.from({ length: streams }, stream))
    const samples = watch.stop()
    if (mostOpen < streams) throw new Error(`only ${mostOpen} of ${streams} streams were open at once`)
    const idle = samples.filter(({ at }) => at < before).at(-1)?.bytes ?? Number.NaN
    const most = Math.max(...samples.map(({ bytes }) => bytes))
    return { idleMiB: idle / 2 ** 20, mostMiB: most / 2 ** 20 }
  } finally {
    watch.stop()
    load.close()
    await gateway.close()
    await upstream.close()
  }
}
