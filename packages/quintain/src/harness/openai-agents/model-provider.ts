import { type ModelContext, type ModelResponse, textOf } from '../../core/index.ts'
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
  const generate = async (
    asked: AgentsRequest,
    onDelta?: ModelContext['onDelta'],
  ): Promise<ModelResponse> => {
    const { signal } = asked
    return askSeat(seat, readRequest(asked, { echoes, model: handle.id }), { signal, onDelta })
  }
  const model: AgentsModel = {
    async getResponse(request) {
      const response = await generate(request)
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
      const said: string[] = []
      let news = Promise.withResolvers<void>()
      let read = Promise.withResolvers<void>()
      let told = ''
      const response = generate(request, (delta) => {
        for (const piece of pieces.read(delta)) if (piece.type === 'text') said.push(piece.text)
        if (said.length === 0) return undefined
        news.resolve()
        return read.promise
      })
      let over = false
      const ended = () => {
        over = true
        news.resolve()
      }
      response.then(ended, ended)
      while (!over || said.length > 0) {
        await news.promise
        news = Promise.withResolvers<void>()
        for (const delta of said.splice(0)) {
          told += delta
          yield { type: 'output_text_delta', delta }
        }
        read.resolve()
        read = Promise.withResolvers<void>()
        if (over) break
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
