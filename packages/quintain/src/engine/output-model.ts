import type { Model, ModelContext, ModelRequest, ModelResponse, OutputFormat, Usage } from '../core/index.ts'
import { withSettings } from '../harness/index.ts'

/** A model that is asked to answer in the form that an environment wants. */
export class OutputModel implements Model {
  readonly id: string
  readonly priced?: boolean
  private readonly model: Model
  private readonly output: OutputFormat

  constructor(model: Model, output: OutputFormat) {
    this.id = model.id
    if (model.priced !== undefined) this.priced = model.priced
    this.model = model
    this.output = output
  }

  generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
    // A program that writes its requests itself asks for what it wants.
    const asked =
      request.wire === undefined
        ? withSettings(request, { responseFormat: this.output }, this.model.id)
        : request
    return this.model.generate(asked, context)
  }

  costOf(usage: Usage): number | null {
    return this.model.costOf?.(usage) ?? null
  }
}
