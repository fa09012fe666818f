import { FaultError, type ToolResult, textOf, toolError } from '../../core/index.ts'
import { type SessionTools, sessionTools } from '../../mcp/index.ts'
import type { Opening, Session } from './session.ts'
import { SessionError } from './session-error.ts'

/** The tools of a session as an MCP endpoint, for doors that hang one on their own server. */
export function mcpOfSession(session: Session, opening: Opening): SessionTools {
  return sessionTools({
    tools: opening.tools,
    run: (name, given) => callOver(session, name, given ?? {}),
  })
}

/** A call of a session as a tool gives it: what the agent got wrong is its result, what is broken is thrown. */
export async function callOver(session: Session, name: string, given: unknown): Promise<ToolResult> {
  try {
    const step = await session.call({ name, arguments: given })
    if (step.error === undefined) return step.content
    return toolError(step.error, textOf(step.content))
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown
    // What the agent can do something about it is told; what is broken is an error of the protocol.
    if (thrown.code === 'episode_over') return toolError(thrown.code, 'Not carried out: the episode is over.')
    if (thrown.code === 'busy' || thrown.code === 'call_conflict')
      return toolError(thrown.code, thrown.message)
    throw new FaultError(
      thrown.fault ?? { owner: 'platform', code: thrown.code, message: thrown.message, retryable: false },
    )
  }
}
