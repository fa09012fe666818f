import { summarize } from 'quintain/report'

/** Makes the report of a run; gives its time and the most memory that this process ever held. */
export async function timeReport(
  dir: string,
  expected: { orders: number; scored: number },
): Promise<{ ms: number; peakBytes: number; idleBytes: number }> {
  const idleBytes = process.memoryUsage.rss()
  const began = performance.now()
  const { orders, status } = await summarize(dir)
  const ms = performance.now() - began
  if (orders !== expected.orders || status.scored !== expected.scored) {
    throw new Error(`the report is wrong: ${JSON.stringify(status)}`)
  }
  return { ms, peakBytes: process.resourceUsage().maxRSS * 1024, idleBytes }
}
