import { main } from '../packages/quintain/src/cli/main.ts'

/**
 * `quintain report RUN --json` in this process, which does nothing else: its time without that of starting Node, and
 * the most memory that the process ever held.
 */
export async function timeReport(
  dir: string,
  expected: { orders: number; scored: number },
): Promise<{ ms: number; peakBytes: number; idleBytes: number }> {
  const idleBytes = process.memoryUsage.rss()
  let printed = ''
  const write = process.stdout.write
  process.stdout.write = (text: string | Uint8Array) => {
    printed += text
    return true
  }
  process.argv = [process.execPath, 'quintain', 'report', dir, '--json']
  const began = performance.now()
  try {
    await main()
  } finally {
    process.stdout.write = write
  }
  const ms = performance.now() - began
  const { orders, status } = JSON.parse(printed) as { orders: number; status: { scored: number } }
  if (orders !== expected.orders || status.scored !== expected.scored) {
    throw new Error(`the report is wrong: ${JSON.stringify(status)}`)
  }
  return { ms, peakBytes: process.resourceUsage().maxRSS * 1024, idleBytes }
}
