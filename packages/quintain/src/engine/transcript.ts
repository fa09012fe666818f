import {
  type CallView,
  conversationOf,
  type Message,
  nestsTooDeep,
  type Outcome,
  type Seat,
  type ToolMessage,
  type TrajectoryRecord,
  type Transcript,
  textOf,
} from '../core/index.ts'

/** What a transcript is made from: a finished recorder, or a stored trajectory. */
export interface TranscriptSource {
  messages(seat: Seat): Message[]
  turnRewards(seat: Seat): number[]
  turns: number
  outcome: Outcome
  stop: string | undefined
}

/** The view of an attempt that graders get. Parts are worked out when they are first asked for. */
export function transcriptOf(source: TranscriptSource, seat: Seat = 'agent'): Transcript {
  let whole: Message[] | undefined
  const all = () => {
    whole ??= source.messages(seat)
    return whole
  }
  const bare = new Map<Seat, readonly Message[]>()
  const withoutReasoning = (of: Seat): readonly Message[] => {
    let found = bare.get(of)
    if (found === undefined) {
      found = (of === seat ? all() : source.messages(of)).map(stripReasoning)
      bare.set(of, found)
    }
    return found
  }
  return {
    outcome: source.outcome,
    stop: source.stop,
    turns: source.turns,
    get messages() {
      return withoutReasoning(seat)
    },
    get answer() {
      const messages = all()
      for (let at = messages.length - 1; at >= 0; at--) {
        const message = messages[at]!
        if (message.role === 'assistant') return textOf(message.content)
      }
      return ''
    },
    get reasoning() {
      return all().flatMap((message) =>
        message.role === 'assistant' && message.reasoning !== undefined ? [message.reasoning] : [],
      )
    },
    get toolCalls() {
      return callViews(all())
    },
    get turnRewards() {
      return source.turnRewards(seat)
    },
    seat: withoutReasoning,
  }
}

/** The same view over a stored trajectory. */
export function storedTranscript(
  trajectory: TrajectoryRecord,
  end: { outcome: Outcome; stop: string | undefined; turns: number },
): Transcript {
  return transcriptOf({
    ...end,
    messages: (seat) => conversationOf(trajectory, seat).map((at) => trajectory.nodes[at]!.message),
    turnRewards: (seat) =>
      trajectory.nodes.flatMap((node) =>
        node.seat === seat && node.reward !== undefined ? [node.reward] : [],
      ),
  })
}

function stripReasoning(message: Message): Message {
  if (message.role !== 'assistant' || message.reasoning === undefined) return message
  const { reasoning: _, ...rest } = message
  return rest
}

function callViews(messages: readonly Message[]): CallView[] {
  const results = new Map<string, ToolMessage>()
  for (const message of messages) if (message.role === 'tool') results.set(message.toolCallId, message)
  const views: CallView[] = []
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const call of message.toolCalls ?? []) {
      const result = results.get(call.id)
      views.push({
        name: call.name,
        arguments: parsed(call.arguments),
        result: textOf(result?.content),
        ...(result?.error === undefined ? {} : { error: result.error }),
      })
    }
  }
  return views
}

/** Undefined for what was no call: no JSON, or so deep that a grader that walks it would fall. */
function parsed(text: string): unknown {
  try {
    if (nestsTooDeep(text)) return undefined
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}
