import { main } from '../packages/quintain/src/cli/main.ts'

/**
 * `quintain compare A B --json` in this process, which does nothing else: its time without that of starting Node, and
 * the most memory that the process ever held.
 */
export async function timeCompare(
  a: string,
  b: string,
  tasks: number,
): Promise<{ ms: number; peakBytes: number }> {
  let printed = ''
  const write = process.stdout.write
  process.stdout.write = (text: string | Uint8Array) => {
    printed += text
    return true
  }
  process.argv = [process.execPath, 'quintain', 'compare', a, b, '--json']
  const began = performance.now()
  try {
    await main()
  } finally {
    process.stdout.write = write
  }
  const ms = performance.now() - began
  const { pairs } = JSON.parse(printed) as { pairs: { success: { pairs: number } }[] }
  if (pairs[0]?.success.pairs !== tasks) throw new Error(`the comparison is wrong: ${printed.slice(0, 500)}`)
  return { ms, peakBytes: process.resourceUsage().maxRSS * 1024 }
}
