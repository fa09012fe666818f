import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HudEpisode } from './episodes.ts'

interface ChatMessage {
  role: string
  content: string | { type: string; text?: string }[] | null
}

/** An OpenAI-compatible server whose model does in each conversation what was recorded for its task. */
export async function modelServer(
  episodes: readonly HudEpisode[],
): Promise<{ url: string; unknown: number; close(): void }> {
  const told = { unknown: 0 }
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { messages, model } = JSON.parse(Buffer.concat(chunks).toString()) as {
      messages: ChatMessage[]
      model: string
    }
    const read = messages
      .filter(({ role }) => role === 'user')
      .map(textOfMessage)
      .join('\n')
    // Where texts of tasks hold one another, the longest is meant.
    const [episode] = episodes
      .filter(({ opening }) => read.includes(opening.at(-1)!))
      .sort((a, b) => b.opening.at(-1)!.length - a.opening.at(-1)!.length)
    if (episode === undefined) told.unknown++
    const step = messages.filter(({ role }) => role === 'assistant').length
    const call = episode?.calls[step]
    const message =
      call === undefined
        ? { role: 'assistant', content: episode?.answer ?? '' }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call_${step}`,
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 0,
        model,
        choices: [{ index: 0, message, finish_reason: call === undefined ? 'stop' : 'tool_calls' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    get unknown() {
      return told.unknown
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text }) => text ?? '').join('')
}
