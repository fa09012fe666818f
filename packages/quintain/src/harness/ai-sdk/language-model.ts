import type { ModelContext, ModelHandle, ReplyDelta } from '../../core/index.ts'
import type { Echoes } from '../echoes.ts'
import { rolloutBaseURL } from '../model-fetch.ts'
import { readOptions } from './read-options.ts'
import { asRefusal } from './refused-call.ts'
import type { AiCallOptions, AiLanguageModel, AiResult, AiStreamPart } from './types.ts'
import { writeResult } from './write-result.ts'
import { StreamParts } from './write-stream.ts'

/** The model of a seat for the AI SDK, of the version that is asked for. Its calls go to the seat and over no network. */
export function aiLanguageModel<Version extends 'v3' | 'v4'>(
  version: Version,
  { handle, echoes }: { handle: Pick<ModelHandle, 'id' | 'generate'>; echoes: Echoes },
): AiLanguageModel<Version> {
  const read = (options: AiCallOptions) => readOptions(options, { echoes, model: handle.id })
  const ask = async (
    options: AiCallOptions,
    { request }: ReturnType<typeof read>,
    onDelta?: ModelContext['onDelta'],
  ) => {
    try {
      const response = await handle.generate(request, {
        ...(onDelta === undefined ? {} : { onDelta }),
        ...(options.abortSignal === undefined ? {} : { signal: options.abortSignal }),
      })
      echoes.remember(response.message)
      return response
    } catch (thrown) {
      throw asRefusal(thrown, rolloutBaseURL, request)
    }
  }
  return {
    specificationVersion: version,
    provider: 'quintain',
    modelId: handle.id,
    // Images by address are fetched by the SDK: where the model runs, nothing may be reached.
    supportedUrls: {},
    async doGenerate(options): Promise<AiResult> {
      const reading = read(options)
      return writeResult(await ask(options, reading), reading.warnings)
    },
    async doStream(options) {
      const reading = read(options)
      const parts = new StreamParts()
      const gone = new AbortController()
      const signal =
        options.abortSignal === undefined ? gone.signal : AbortSignal.any([gone.signal, options.abortSignal])
      const began = Promise.withResolvers<void>()
      // One part is made ahead; the rest waits for the reader, and the model with it.
      let wanted = Promise.withResolvers<void>()
      const stream = new ReadableStream<AiStreamPart>({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: reading.warnings })
          const onDelta = (delta: ReplyDelta): void | Promise<void> => {
            began.resolve()
            if (gone.signal.aborted) return undefined
            for (const part of parts.delta(delta)) controller.enqueue(part)
            if ((controller.desiredSize ?? 1) > 0) return undefined
            wanted = Promise.withResolvers<void>()
            return wanted.promise
          }
          ask({ ...options, abortSignal: signal }, reading, onDelta)
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
