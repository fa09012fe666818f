import { type Content, textOf } from '../../../core/index.ts'
import type { ListedTask, Opening, Settled } from '../../session/session.ts'
import { ClientRefused, type ClientStep, type EpisodeClient, type Player } from '../episode-client.ts'
import { http } from './http.ts'
import { verdictOf } from './session.ts'

interface Created {
  session: string
  task: ListedTask
  opening: Omit<Opening, 'answerTool'> & { answerTool: string | null }
}

interface Stepped {
  content: Content
  error: string | null
  done: string | null
}

interface Refusal {
  error?: { code: string; message: string }
}

/** Plays by the JSON of the native door. */
export function nativePlayer(url: string): Player {
  return {
    way: 'native',
    anyArguments: true,
    unsaid: [],
    open: ({ id }) => openNative(url, id),
    close: async () => {},
  }
}

async function openNative(url: string, id: string): Promise<EpisodeClient> {
  const { session, opening } = await ask<Created>(`${url}/v1/sessions`, { task: { id } })
  const at = `${url}/v1/sessions/${session}`
  return {
    opening: {
      text: opening.messages.map(({ content }) => textOf(content)).join('\n'),
      tools: opening.tools.map(({ name }) => name),
    },
    call: async (name, args, reply) =>
      stepOf(await ask<Stepped>(`${at}/call`, { name, arguments: args, ...reply })),
    say: async (text) => stepOf(await ask<Stepped>(`${at}/act`, { content: text })),
    async end() {
      for (;;) {
        const settled = await ask<Settled | { pending: true }>(`${at}/grade`, {})
        if (!('pending' in settled)) return verdictOf(settled)
      }
    },
    close: async () => void (await http(at, { method: 'DELETE' })),
  }
}

async function ask<T>(url: string, body: unknown): Promise<T> {
  const { text } = await http(url, { method: 'POST', body })
  const answer = JSON.parse(text) as T & Refusal
  const { error } = answer
  // A step that the agent got wrong has an error that is a code.
  if (typeof error !== 'object' || error === null) return answer
  const failed = error.code === 'infrastructure' ? 'failed' : undefined
  throw new ClientRefused(`${error.code}: ${error.message}`, failed)
}

function stepOf({ content, error, done }: Stepped): ClientStep {
  return { text: textOf(content), ...(error === null ? {} : { error }), done: done !== null }
}
