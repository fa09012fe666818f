import { type Tool, type ToolResult, tool } from 'quintain'
import type { z } from 'zod'
import type { Desk } from './desk.ts'

/** A tool whose schema is worked out once, to be bound to the desk of each attempt. */
export type DeskTool = (desk: Desk) => Tool

export function deskTool<Input extends z.ZodType>(definition: {
  name: string
  description: string
  input: Input
  run(desk: Desk, input: z.infer<Input>): ToolResult
}): DeskTool {
  const { run, ...rest } = definition
  const described = tool({ ...rest, run: () => '' })
  return (desk) => ({ ...described, run: (input: z.infer<Input>) => run(desk, input) })
}
