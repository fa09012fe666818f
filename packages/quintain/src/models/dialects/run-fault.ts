import { ModelFault, type ModelRequest } from '../../core/model.ts'
import { DialectError } from './dialect.ts'

/**
 * Writes the body of a request. What cannot be said is told to the program that asked; where no program did, it is a
 * fault of what the run was told to ask.
 */
export function orRunFault(request: ModelRequest, write: () => string): string {
  try {
    return write()
  } catch (thrown) {
    if (request.wire !== undefined || !(thrown instanceof DialectError)) throw thrown
    const { code, message } = thrown
    throw new ModelFault(
      { owner: 'platform', stage: 'model', code, message, retryable: false },
      { cause: thrown },
    )
  }
}
