import {
  type AssistantMessage,
  type Message,
  type TrajectoryRecord,
  textOf,
} from '../../packages/quintain/src/core/index.ts'
import { classifyCalls } from '../../packages/quintain/src/rows/index.ts'
import type { Example } from './examples.ts'

/** What is wrong with the record of an attempt of an example; empty when nothing is. */
export function faultsOfGraph(trajectory: TrajectoryRecord, turns: number, example: Example): string[] {
  const { nodes, calls } = trajectory
  const faults: string[] = []
  const own = calls.filter(({ seat }) => seat === 'agent')
  if (own.length !== turns) faults.push(`${own.length} calls are recorded, and ${turns} were counted`)
  const wayTo = (leaf: number): number[] => {
    const way: number[] = []
    for (let at = leaf; at >= 0; at = nodes[at]!.parent) way.unshift(at)
    return way
  }

  for (const [at, { output }] of own.entries()) {
    if (output < 0 || nodes[output]?.sampled !== true) faults.push(`call ${at} has no sampled reply`)
  }
  const classes = classifyCalls(trajectory).filter((one) => one !== undefined)
  const wanted = example.keepsHistory ? ['kept'] : ['kept', 'branch']
  const strange = classes.filter((one) => !wanted.includes(one))
  if (strange.length > 0) faults.push(`calls are ${strange.join(', ')}`)

  // Each call of a tool is answered once, by its id, on the way to what was asked next.
  for (const { prompt } of own) {
    const messages = wayTo(prompt).map((at) => nodes[at]!.message)
    const complaint = unanswered(messages)
    if (complaint !== undefined) faults.push(complaint)
  }
  if (example.keepsHistory) {
    const last = wayTo(own.at(-1)?.output ?? -1)
    const beside = own.filter(({ output }) => !last.includes(output))
    if (beside.length > 0) faults.push(`${beside.length} calls lie beside the branch of the last`)
  }

  // What the model said is what the world heard.
  const sampled = own.map(({ output }) => nodes[output]?.message).filter(isAssistant)
  const said = sampled.filter(({ toolCalls = [] }) => toolCalls.length === 0).map(wordsOf)
  const world = wayTo(trajectory.leaves?.['agent'] ?? -1).map((at) => nodes[at]!.message)
  const heard = world.filter(isAssistant).filter(({ toolCalls = [] }) => toolCalls.length === 0)
  if (trajectory.leaves !== undefined && heard.map(wordsOf).join('\n') !== said.join('\n'))
    faults.push(
      `the world heard ${JSON.stringify(heard.map(wordsOf))}, and the model said ${JSON.stringify(said)}`,
    )
  if (example.ownTools !== true && callsOf(world).join('\n') !== callsOf(sampled).join('\n'))
    faults.push(
      `the world ran ${callsOf(world).join(' ')}, and the model called ${callsOf(sampled).join(' ')}`,
    )
  return faults
}

const isAssistant = (message: Message | undefined): message is AssistantMessage =>
  message?.role === 'assistant'
const wordsOf = ({ content }: AssistantMessage) => textOf(content).trim()

/** Tool calls in words, without the names that a program puts before those of a server. */
function callsOf(messages: readonly Message[]): string[] {
  return messages
    .filter(isAssistant)
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .map(
      ({ name, arguments: args }) =>
        `${name.replace(/^mcp__\w+?__/, '')}(${JSON.stringify(JSON.parse(args))})`,
    )
}

function unanswered(messages: readonly Message[]): string | undefined {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId))
        return `a result names the call ${message.toolCallId}, which is not open`
    } else if (open.size > 0) return `the calls ${[...open].join(', ')} were not answered`
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) open.add(id)
  }
  return open.size > 0 ? `the calls ${[...open].join(', ')} were not answered` : undefined
}
