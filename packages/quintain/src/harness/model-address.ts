import { type HarnessContext, type ModelAddress, QuintainError } from '../core/index.ts'

/** The address of the model behind an agent; undefined when the agent brings its own. */
export async function addressOf({ model }: HarnessContext): Promise<ModelAddress | undefined> {
  try {
    return await model.address()
  } catch (thrown) {
    if (QuintainError.isInstance(thrown) && thrown.code === 'needs_unmet') return undefined
    throw thrown
  }
}
