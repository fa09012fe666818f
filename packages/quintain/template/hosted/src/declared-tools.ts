import { type Tool, type ToolSpec, tool, type World } from 'quintain'
import { z } from 'zod'

/**
 * Tools that a row declares. They are offered as they stand and never run: the first call ends the episode, and what was
 * called, with whatever arguments, is what graders see. Put real tools here for an agent that goes on.
 */
export class DeclaredTools implements World<null> {
  readonly #specs: readonly ToolSpec[]

  constructor(specs: readonly ToolSpec[]) {
    this.#specs = specs
  }

  tools(): Tool[] {
    return this.#specs.map((spec) => {
      const made = tool({
        name: spec.name,
        description: spec.description,
        input: { schema: z.unknown(), jsonSchema: spec.parameters },
        run: () => ({ content: '', done: 'called' }),
      })
      return { ...made, spec }
    })
  }

  finish(): null {
    return null
  }
}
