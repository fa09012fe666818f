import { ModelFault } from '../core/model.ts'
import type { RetryEntry } from '../core/records.ts'

/** The fault of a model call whose caller gave up on it. */
export function cancelled(retries: RetryEntry[] = []): ModelFault {
  return new ModelFault(
    {
      owner: 'platform',
      stage: 'model',
      code: 'cancelled',
      message: 'The model call was cancelled.',
      retryable: false,
    },
    { retries },
  )
}
