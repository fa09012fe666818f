import { isObject, readChatMessages } from '../../core/chat-messages.ts'
import type { Usage } from '../../core/index.ts'
import type { Conversation } from '../conversation.ts'
import { isTrial } from '../tau-bench-format.ts'
import { foreignFault } from './foreign-error.ts'
import { isoOf, numbersOf, toolsOf } from './foreign-values.ts'
import { outcomeOfStop } from './original-stop.ts'

type Loose = Record<string, unknown>
type Read = Omit<Conversation, 'place'>

/** An episode (`traces`), or a trace by itself as they were in July 2026. */
export function isTrace(value: unknown): value is Loose {
  if (!isObject(value)) return false
  return Array.isArray(value['traces']) || (Array.isArray(value['nodes']) && isObject(value['task']))
}

/**
 * The traces of a line. Several in one episode are several agents: each is an attempt of its own, at the task with its
 * agent's name, since their rewards are not one. An episode without any failed before an agent began.
 */
export function readTraces(line: Loose): (Read | string)[] {
  const { traces, env } = line
  const environment = isObject(env) ? env['id'] : undefined
  const measured = typeof environment === 'string' && environment !== '' ? { measured: environment } : {}
  if (!Array.isArray(traces)) return [readTrace(line, '')]
  if (traces.length === 0) {
    const task = taskOf(line['task'])
    const [error] = Array.isArray(line['errors']) ? line['errors'] : []
    const fault = foreignFault(isObject(error) ? error['type'] : undefined)
    const { errors, info } = line
    return [
      {
        ...(task === undefined ? {} : { task }),
        ...measured,
        ...{ messages: [], notes: [], outcome: 'cancelled' as const, fault },
        rest: { errors, info },
      },
    ]
  }
  return traces.map((trace: unknown, at) => {
    if (!isObject(trace)) return `trace ${at + 1} is no object`
    const agent = isObject(trace['agent']) ? trace['agent']['name'] : undefined
    const read = readTrace(trace, traces.length === 1 ? '' : `/${typeof agent === 'string' ? agent : at + 1}`)
    return typeof read === 'string' ? `trace ${at + 1}: ${read}` : { ...read, ...measured }
  })
}

/** A trace as a conversation: its longest branch, and how many others there were. */
function readTrace(trace: Loose, suffix: string): Read | string {
  const {
    task,
    nodes: given,
    rewards,
    metrics,
    errors,
    ok,
    stop_condition: stop,
    timing,
    calls,
    ...rest
  } = trace
  const id = taskOf(task)
  if (id === undefined) return 'its task has neither key, name nor number'
  const nodes = nodesOf(given)
  if (typeof nodes === 'string') return nodes
  const branches = branchesOf(nodes)
  const sampledIn = (branch: readonly number[]) => branch.filter((at) => nodes[at]!.sampled).length
  // The latest of the longest: what an agent went on with after it had edited its history.
  let main: readonly number[] = []
  for (const branch of branches) if (main.length === 0 || sampledIn(branch) >= sampledIn(main)) main = branch
  const read = readChatMessages(main.map((at) => nodes[at]!.message))
  if (typeof read === 'string') return read
  if (branches.length > 1)
    read.notes.push(`the trace has ${branches.length} branches; one with the most replies is kept`)
  const agent = isObject(trace['agent']) ? trace['agent'] : {}
  const config = isObject(agent['config']) ? agent['config'] : agent
  const model = config['model'] ?? firstOf(calls)?.['model']
  const failed = typeof ok === 'boolean' ? !ok : Array.isArray(errors) && errors.length > 0
  const conversation: Read = {
    task: `${id}${suffix}`,
    messages: read.messages,
    sampled: main.map((at) => nodes[at]!.sampled),
    notes: read.notes,
    reward: rewardOf(rewards),
    metrics: { ...partsOf(rewards), ...numbersOf(metrics) },
    ...outcomeOfStop(stop),
    ...timesOf(timing),
    secret: isObject(task) ? task['data'] : task,
    rest: { ...rest, errors },
  }
  if (typeof model === 'string' && model !== '') conversation.policy = model
  if (isObject(config['sampling'])) conversation.sampling = config['sampling']
  const offered = toolsOf(trace['tools'])
  if (offered.length > 0) conversation.tools = offered
  const usage = usageOf(Array.isArray(calls) ? calls : nodes.map(({ usage }) => ({ usage })))
  if (usage !== undefined) conversation.usage = usage
  const last = Array.isArray(errors) ? (errors as unknown[]).at(-1) : undefined
  if (failed) conversation.fault = foreignFault(isObject(last) ? last['type'] : undefined)
  return conversation
}

function firstOf(list: unknown): Loose | undefined {
  const [first] = Array.isArray(list) ? (list as unknown[]) : []
  return isObject(first) ? first : undefined
}

function taskOf(task: unknown): string | undefined {
  if (!isObject(task)) return undefined
  const data = isObject(task['data']) ? task['data'] : task
  const known = [task['key'], data['task_id'], data['name'], data['idx'], task['hash']]
  const found = known.find((one) => (typeof one === 'string' && one !== '') || typeof one === 'number')
  return found === undefined ? undefined : String(found)
}

interface TraceNode {
  parent: number
  message: unknown
  sampled: boolean
  usage: unknown
}

function nodesOf(given: unknown): TraceNode[] | string {
  if (!Array.isArray(given)) return 'its nodes are no list'
  const nodes: TraceNode[] = []
  for (const [at, node] of (given as unknown[]).entries()) {
    if (!isObject(node)) return `node ${at} is no object`
    const parent = node['parent'] ?? -1
    // An earlier one, so that no path comes back to itself.
    if (typeof parent !== 'number' || !Number.isInteger(parent) || parent < -1 || parent >= at)
      return `node ${at} has no earlier node as its parent`
    nodes.push({ parent, message: node['message'], sampled: node['sampled'] === true, usage: node['usage'] })
  }
  return nodes
}

function branchesOf(nodes: readonly TraceNode[]): number[][] {
  const inner = new Set(nodes.map(({ parent }) => parent))
  return [...nodes.keys()]
    .filter((at) => !inner.has(at))
    .map((leaf) => {
      const branch: number[] = []
      for (let at = leaf; at >= 0; at = nodes[at]!.parent) branch.push(at)
      return branch.reverse()
    })
}

/**
 * The sum of the rewards: contributions (July 2026), or scores with weights. One that is null or no number was not given,
 * so there is no sum; no reward at all is none, and not 0.
 */
function rewardOf(rewards: unknown): number | null {
  if (!isObject(rewards) || Object.keys(rewards).length === 0) return null
  let sum = 0
  for (const value of Object.values(rewards)) {
    const score = isObject(value) ? value['score'] : value
    const weight = isObject(value) ? (value['weight'] ?? 1) : 1
    if (typeof score !== 'number' || typeof weight !== 'number') return null
    sum += score * weight
  }
  return Number.isFinite(sum) ? sum : null
}

/** Each reward by itself, where there is more than one. */
function partsOf(rewards: unknown): Record<string, number | null> {
  if (!isObject(rewards) || Object.keys(rewards).length < 2) return {}
  return numbersOf(
    Object.fromEntries(
      Object.entries(rewards).map(([name, value]) => [name, isObject(value) ? value['score'] : value]),
    ),
  )
}

function timesOf(timing: unknown): { start?: string; end?: string } {
  if (!isObject(timing)) return {}
  const last = ['agent', 'generation'].map((name) => timing[name]).find(isObject)
  const [start, end] = [isoOf(timing['start']), isoOf(last?.['end'])]
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }
}

/** Tokens of all calls; undefined where no call says any. `prompt_tokens` has no cached ones in it. */
function usageOf(calls: readonly unknown[]): Usage | undefined {
  let sum: Usage | undefined
  for (const call of calls) {
    const usage = isObject(call) ? call['usage'] : undefined
    if (!isObject(usage)) continue
    const { prompt_tokens: input, completion_tokens: output, cached_input_tokens: cached } = usage
    if (!isTrial(input) || !isTrial(output)) continue
    sum = {
      fresh: (sum?.fresh ?? 0) + input,
      cacheRead: (sum?.cacheRead ?? 0) + (isTrial(cached) ? cached : 0),
      cacheWrite: 0,
      output: (sum?.output ?? 0) + output,
    }
  }
  return sum
}
