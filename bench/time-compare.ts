import { compareRuns, formatComparison } from 'quintain/report'

/** This module by its name when it runs, which is another when it is built. */
export const timeCompareModule = import.meta.url

/**
 * Compares two runs in this process, which has done nothing else, and makes text and JSON of it: its time, and the most
 * memory that the process ever held.
 */
export async function timeCompare(
  a: string,
  b: string,
  tasks: number,
): Promise<{ ms: number; peakBytes: number }> {
  const began = performance.now()
  const comparison = await compareRuns([a, b])
  const shown = formatComparison(comparison).length + JSON.stringify(comparison, null, 2).length
  const ms = performance.now() - began
  if (comparison.pairs[0]?.success?.pairs !== tasks || shown === 0) {
    throw new Error(`the comparison is wrong: ${JSON.stringify(comparison).slice(0, 500)}`)
  }
  return { ms, peakBytes: process.resourceUsage().maxRSS * 1024 }
}
