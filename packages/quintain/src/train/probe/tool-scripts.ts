import { createRng, type ToolSpec } from '../../core/index.ts'
import { randomValue } from '../../models/index.ts'
import type { Act, Script } from './script.ts'

const mostTools = 12

/** Arguments that fit a tool's schema, and were chosen without looking at anything. */
function fitting({ name, parameters }: ToolSpec, turn: number): Record<string, unknown> {
  const value = randomValue(parameters, createRng(`probe/${name}/${turn}`))
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

/** Scripts that call the tools of an environment blindly: each once and again, all of them, and without arguments. */
export function toolScripts(tools: readonly ToolSpec[]): Script[] {
  const calling = (name: string, act: (turn: number) => Act | undefined): Script => ({
    name,
    family: 'tools',
    next: ({ turn }) => act(turn),
  })
  const used = tools.slice(0, mostTools)
  return [
    ...used.flatMap((tool) => [
      calling(`calls ${tool.name} once`, (turn) =>
        turn === 0 ? { text: '', calls: [{ name: tool.name, arguments: fitting(tool, 0) }] } : undefined,
      ),
      calling(`calls ${tool.name} without arguments`, (turn) =>
        turn === 0 ? { text: '', calls: [{ name: tool.name, arguments: {} }] } : undefined,
      ),
      calling(`calls ${tool.name} again and again`, (turn) => ({
        text: '',
        calls: [{ name: tool.name, arguments: fitting(tool, turn) }],
      })),
    ]),
    ...(used.length > 1
      ? [
          calling('calls every tool, one after the other', (turn) => {
            const tool = used[turn]
            return tool && { text: '', calls: [{ name: tool.name, arguments: fitting(tool, turn) }] }
          }),
          calling('calls every tool at once', (turn) =>
            turn === 0
              ? { text: '', calls: used.map((tool) => ({ name: tool.name, arguments: fitting(tool, 0) })) }
              : undefined,
          ),
        ]
      : []),
  ]
}
