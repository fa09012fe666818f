import { type JsonSchema, textOf } from '../../core/index.ts'
import type { ToolDesk } from '../tools/tool-desk.ts'

/** A JSON Schema as both the AI SDK and the Standard Schema know one. What fits it is for the world to say. */
export interface AiToolSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'quintain'
    validate(value: unknown): { value: unknown }
    readonly jsonSchema: {
      input(options: { target: string }): Record<string, unknown>
      output(options: { target: string }): Record<string, unknown>
    }
  }
}

/** A tool as the AI SDK takes it. */
export interface AiWorldTool {
  description: string
  inputSchema: AiToolSchema
  execute(input: unknown): Promise<string>
}

/** The world's tools as a tool set of the AI SDK, versions 6 and 7. */
export function aiToolSet(desk: ToolDesk): Record<string, AiWorldTool> {
  return Object.fromEntries(
    desk.specs.map(({ name, description, parameters }) => [
      name,
      {
        description,
        inputSchema: schemaOf(parameters),
        execute: async (input: unknown) => answerText(await desk.call(name, input)),
      },
    ]),
  )
}

/** What a tool gave as text; a failure begins with `error:`. */
export function answerText({ content, error }: Awaited<ReturnType<ToolDesk['call']>>): string {
  const text = textOf(content)
  return error === undefined ? text : `error: ${error}: ${text}`
}

function schemaOf(jsonSchema: JsonSchema): AiToolSchema {
  const validate = (value: unknown) => ({ success: true, value })
  return {
    '~standard': {
      version: 1,
      vendor: 'quintain',
      validate,
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
    // By this the AI SDK knows a schema that needs no conversion.
    ...{ [Symbol.for('vercel.ai.schema')]: true, jsonSchema, validate },
  }
}
