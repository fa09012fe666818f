import { clearTimeout, setTimeout } from '../../core/own-time.ts'
import type { ToolDesk } from './tool-desk.ts'

/**
 * Runs one turn of an agent that is not ours to stop. `over` is aborted so many milliseconds after one of its tool calls has
 * ended the episode: until then it may end by itself.
 */
export async function withGrace<T>(
  tools: ToolDesk,
  ms: number,
  run: (over: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  tools.onDone = () => {
    timer = setTimeout(() => over.abort(), ms)
  }
  try {
    return await run(over.signal)
  } finally {
    clearTimeout(timer)
    tools.onDone = undefined
  }
}
