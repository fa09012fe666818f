import type { ReplyDelta } from '../../core/index.ts'
import { type AskedSeat, askSeat } from '../asked-seat.ts'
import { readOptions } from './read-options.ts'
import type { AiCallOptions, AiLanguageModel, AiResult, AiStreamPart } from './types.ts'
import { writeResult } from './write-result.ts'
import { StreamParts } from './write-stream.ts'

/** The model of a seat for the AI SDK, of the version that is asked for. Its calls go to the seat and over no network. */
export function aiLanguageModel<Version extends 'v3' | 'v4'>(
  version: Version,
  seat: AskedSeat,
): AiLanguageModel<Version> {
  const { handle, echoes } = seat
  const read = (options: AiCallOptions) => readOptions(options, { echoes, model: handle.id })
  return {
    specificationVersion: version,
    provider: 'quintain',
    modelId: handle.id,
    // Images by address are fetched by the SDK: where the model runs, nothing may be reached.
    supportedUrls: {},
    async doGenerate(options): Promise<AiResult> {
      const { request, warnings } = read(options)
      return writeResult(await askSeat(seat, request, { signal: options.abortSignal }), warnings)
    },
    async doStream(options) {
      const { request, warnings } = read(options)
      const parts = new StreamParts()
      const gone = new AbortController()
      const signal =
        options.abortSignal === undefined ? gone.signal : AbortSignal.any([gone.signal, options.abortSignal])
      const began = Promise.withResolvers<void>()
      // One part is made ahead; the rest waits for the reader, and the model with it.
      let wanted = Promise.withResolvers<void>()
      const stream = new ReadableStream<AiStreamPart>({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings })
          const onDelta = (delta: ReplyDelta): void | Promise<void> => {
            began.resolve()
            if (gone.signal.aborted) return undefined
            for (const part of parts.delta(delta)) controller.enqueue(part)
            if ((controller.desiredSize ?? 1) > 0) return undefined
            wanted = Promise.withResolvers<void>()
            return wanted.promise
          }
          askSeat(seat, request, { signal, onDelta })
            .then(
              (response) => parts.end(response),
              (error: unknown): AiStreamPart[] => {
                // A call that was refused before anything came is an error of the call, and not of its stream.
                began.reject(error)
                return [{ type: 'error', error }]
              },
            )
            .then((last) => {
              began.resolve()
              if (gone.signal.aborted) return
              for (const part of last) controller.enqueue(part)
              controller.close()
            })
        },
        pull: () => wanted.resolve(),
        cancel() {
          gone.abort(new Error('the stream was cancelled'))
          wanted.resolve()
        },
      })
      await began.promise
      return { stream }
    },
  }
}
