import { FaultError, type Schema, type Tool, textOf } from '../../core/index.ts'
import type { ToolAnswer, ToolDesk } from './tool-desk.ts'

/** The tools of a desk as tools that can be served over MCP. What fits a tool is for the world to say, not for this side. */
export function mcpToolsOf(desk: ToolDesk): Tool[] {
  return desk.specs.map((spec) => ({
    name: spec.name,
    description: spec.description,
    schema: anything,
    spec,
    run: async (input: unknown) => {
      try {
        return resultOf(await desk.call(spec.name, input))
      } catch (thrown) {
        // Whoever asked is told that there is no answer; why, and whose fault it is, is for the records.
        const message = 'the rollout is over, or its world failed'
        throw new FaultError({ owner: 'world', code: 'call_failed', message, retryable: false }, thrown)
      }
    },
  }))
}

function resultOf({ content, error, done }: ToolAnswer): ReturnType<Tool['run']> {
  if (error !== undefined) return { toolError: error, message: `${error}: ${textOf(content)}` }
  return done === undefined ? content : { content, done }
}

const anything: Schema = {
  '~standard': { version: 1, vendor: 'quintain', validate: (value: unknown) => ({ value }) },
}
