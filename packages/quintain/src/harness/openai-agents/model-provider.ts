import { type ModelContext, textOf } from '../../core/index.ts'
import { type AskedSeat, askSeat } from '../asked-seat.ts'
import { ReplyPieces } from '../reply-pieces.ts'
import { readRequest } from './read-request.ts'
import type { AgentsOutput, AgentsRequest, AgentsUsage } from './types.ts'
import { outputOf, usageOf } from './write-reply.ts'

export interface AgentsReply {
  usage: AgentsUsage
  output: AgentsOutput[]
  responseId?: string
}

export type AgentsStreamEvent =
  | { type: 'response_started' }
  | { type: 'output_text_delta'; delta: string }
  | { type: 'response_done'; response: { id: string; usage: AgentsUsage; output: AgentsOutput[] } }

/** A model of the OpenAI Agents SDK. */
export interface AgentsModel {
  getResponse(request: AgentsRequest): Promise<AgentsReply>
  getStreamedResponse(request: AgentsRequest): AsyncIterable<AgentsStreamEvent>
}

/** The model of a seat for the OpenAI Agents SDK, whatever model an agent names: `new Runner({ modelProvider })`. */
export interface AgentsModelProvider {
  getModel(name?: string): AgentsModel
}

export function agentsModelProvider(seat: AskedSeat): AgentsModelProvider {
  const { handle, echoes } = seat
  const read = (asked: AgentsRequest) => readRequest(asked, { echoes, model: handle.id })
  const model: AgentsModel = {
    async getResponse(request) {
      const response = await askSeat(seat, read(request), { signal: request.signal })
      const { responseId } = response
      return {
        usage: usageOf(response),
        output: outputOf(response),
        ...(responseId === undefined ? {} : { responseId }),
      }
    },
    async *getStreamedResponse(request) {
      yield { type: 'response_started' }
      const pieces = new ReplyPieces()
      const gone = new AbortController()
      const signal =
        request.signal === undefined ? gone.signal : AbortSignal.any([gone.signal, request.signal])
      const said: string[] = []
      let news = Promise.withResolvers<void>()
      let taken = Promise.withResolvers<void>()
      let told = ''
      const onDelta: ModelContext['onDelta'] = (delta) => {
        for (const piece of pieces.read(delta)) if (piece.type === 'text') said.push(piece.text)
        if (said.length === 0 || gone.signal.aborted) return undefined
        news.resolve()
        return taken.promise
      }
      const response = askSeat(seat, read(request), { signal, onDelta })
      let over = false
      const ended = () => {
        over = true
        news.resolve()
      }
      response.then(ended, ended)
      try {
        while (!over || said.length > 0) {
          await news.promise
          news = Promise.withResolvers<void>()
          for (const delta of said.splice(0)) {
            told += delta
            yield { type: 'output_text_delta', delta }
          }
          taken.resolve()
          taken = Promise.withResolvers<void>()
          if (over) break
        }
      } finally {
        // Whoever leaves the stream early wants no more of the model either.
        if (!over) gone.abort(new Error('the stream was left'))
        taken.resolve()
      }
      const whole = await response
      const rest = textOf(whole.message.content)
      if (told === '' && rest !== '') yield { type: 'output_text_delta', delta: rest }
      yield {
        type: 'response_done',
        response: {
          id: whole.responseId ?? 'response',
          usage: usageOf(whole),
          output: outputOf(whole),
        },
      }
    },
  }
  return { getModel: () => model }
}
