import { type Message, textOf } from '../../core/index.ts'
import { chatRenderer } from '../chat-renderer.ts'
import type { Played } from './played.ts'

/** Pieces beside single characters; the vocabulary of a blind policy is small so that each piece is tried often. */
const mostPieces = 500
const longestPiece = 40
const longestCall = 300
/** Words that the environment says in this share of what was played are its own, and not of one task. */
const ownShare = 0.5

const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))
const callPattern = /<tool_call>.*?<\/tool_call>/gs
/** A word with the space before it, a run of marks, or space. */
const piecePattern = / ?[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+|\s+/gu

/**
 * The vocabulary of a policy that sees nothing of a task: every printable character, and as pieces whole replies and calls of
 * what was played, their words, and the words that the environment says whatever the task is. With pieces a reply is a
 * few draws long, so that ways of playing are tried that single characters would never come to.
 */
export function piecesOf(played: readonly Played[]): string[] {
  const replies = played.map(({ messages }) => textsOf(messages))
  const characters = new Set([...printable, '\n', ...replies.flat().flatMap((text) => [...text])])
  const counts = new Map<string, number>()
  const add = (piece: string, longest = longestPiece) => {
    if ([...piece].length > 1 && piece.length <= longest) counts.set(piece, (counts.get(piece) ?? 0) + 1)
  }
  for (const text of new Set(replies.flat())) {
    for (const [call] of text.matchAll(callPattern)) add(call, longestCall)
    const spoken = text.replace(callPattern, '')
    const pieces = new Set([spoken, ...(text.match(piecePattern) ?? [])])
    for (const piece of pieces) add(piece)
  }
  const own = ownWords(played)
  // What stands in many replies comes first, then what was said first.
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).map(([piece]) => piece)
  return [...new Set([...characters, ...own, ...frequent.slice(0, mostPieces)])]
}

const mostOwn = 100

/** Words of the system message, the prompt and the answers that are said in most tasks. */
function ownWords(played: readonly Played[]): string[] {
  const byTask = [...Map.groupBy(played, ({ task }) => task).values()].map(
    (own) => new Set(own.flatMap(({ messages }) => messages.flatMap(wordsOfEnvironment))),
  )
  const counts = new Map<string, number>()
  for (const words of byTask) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .filter(([word, count]) => word.length > 1 && count > 1 && count >= ownShare * byTask.length)
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostOwn)
    .map(([word]) => word)
}

function wordsOfEnvironment({ role, content }: Message): string[] {
  return role === 'assistant' ? [] : (textOf(content).match(/[\p{L}\p{N}_-]{2,40}/gu) ?? [])
}

const whole = chatRenderer({ vocabulary: 'bytes' })

/** The replies of a conversation as a policy writes them, calls among them. */
export function textsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return []
    const { ids, mask } = whole.renderExample([message], [true])
    const text = whole.text(ids.filter((_, at) => mask[at] === 1)).replace(/<end>$/, '')
    return text === '' ? [] : [text]
  })
}
