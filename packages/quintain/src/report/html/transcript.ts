import { sep } from 'node:path'
import {
  type CallRecord,
  type Content,
  type MessageNode,
  messageOf,
  type OrderState,
  QuintainError,
  readTrajectory,
  readVerdict,
} from '../../core/index.ts'
import type { Transcript, TranscriptCall } from './page-data.ts'
import type { PageAttempt } from './read-rows.ts'

/** Image bytes are not carried: a page of them would be of any size. Their type is, and the blob they are. */
function withoutBytes(content: Content): Content {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'text') return part
    const { data: _data, ...rest } = part
    return rest
  })
}

function nodeForPage({ message, ...node }: MessageNode): MessageNode {
  if (message.role !== 'assistant')
    return { ...node, message: { ...message, content: withoutBytes(message.content) } }
  // What a provider said beside its message is for sending back, not for reading.
  const { extra: _extra, ...said } = message
  return { ...node, message: { ...said, content: withoutBytes(said.content) } }
}

function callForPage(call: CallRecord): TranscriptCall {
  const {
    sampling: _sampling,
    finishRaw: _finishRaw,
    responseId: _responseId,
    firstByteMs: _firstByteMs,
    policySpans: _policySpans,
    tokens: _tokens,
    ...shown
  } = call
  return shown
}

/**
 * Reads what the page shows of the attempt that counts of an order: the publishable records and nothing of `private/`.
 * A part that cannot be read is a problem in the result; the others are there. Throws `run_too_new` only.
 */
export async function readTranscript(
  dir: string,
  row: number,
  { chosen }: OrderState<PageAttempt>,
): Promise<Transcript | undefined> {
  if (chosen === undefined) return undefined
  const problems: string[] = []
  const read = async <T>(part: (dir: string, attempt: PageAttempt) => Promise<T>): Promise<T | undefined> => {
    try {
      return await part(dir, chosen)
    } catch (error) {
      if (QuintainError.isInstance(error) && error.code === 'run_too_new') throw error
      // The page may travel: no folder of this machine goes with it.
      problems.push(messageOf(error).replaceAll(`${dir}${sep}`, ''))
      return undefined
    }
  }
  const [trajectory, graded] = await Promise.all([read(readTrajectory), read(readVerdict)])
  const { parts: _parts, ...attempt } = chosen
  return {
    row,
    attempt,
    seats: Object.fromEntries(
      Object.entries(trajectory?.seats ?? {}).map(([seat, { policy, harness }]) => [
        seat,
        { policy, harness },
      ]),
    ),
    nodes: (trajectory?.nodes ?? []).map(nodeForPage),
    ...(trajectory?.leaves === undefined ? {} : { leaves: trajectory.leaves }),
    calls: (trajectory?.calls ?? []).map(callForPage),
    components: graded?.components ?? {},
    problems,
  }
}
