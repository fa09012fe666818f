import type { ModelContext, ModelHandle, ModelRequest, ModelResponse } from '../core/index.ts'
import type { Echoes } from './echoes.ts'
import { asRefusal } from './refused-call.ts'

/** The model of a seat as frameworks in this process ask it, whichever they are. */
export interface AskedSeat {
  handle: Pick<ModelHandle, 'id' | 'generate'>
  /** What it has said so far. */
  echoes: Echoes
}

/** Asks the model of a seat. Rejects with an error that frameworks know where the seat is at its end. */
export async function askSeat(
  { handle, echoes }: AskedSeat,
  request: ModelRequest,
  { signal, onDelta }: { signal?: AbortSignal | undefined; onDelta?: ModelContext['onDelta'] | undefined },
): Promise<ModelResponse> {
  try {
    const response = await handle.generate(request, {
      ...(signal === undefined ? {} : { signal }),
      ...(onDelta === undefined ? {} : { onDelta }),
    })
    echoes.remember(response.message)
    return response
  } catch (thrown) {
    throw asRefusal(thrown, request)
  }
}
