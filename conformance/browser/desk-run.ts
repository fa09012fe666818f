import { createRng, type MessageNode } from '../../packages/quintain/src/core/index.ts'
import {
  type SampleAttempt,
  type SampleOrder,
  writeSampleRun,
} from '../../packages/quintain/src/report/sample-run.ts'

const words =
  'order refund ticket address customer delivery policy stock invoice payment confirm item parcel status please'.split(
    ' ',
  )
const tools = ['find_order', 'refund', 'update_address'] as const

/** The task's name, the canary of its private records, and what the customer of it says. */
export const taskName = (task: number) => `ticket-${String(task).padStart(4, '0')}`
export const canary = 'CANARY-OF-PRIVATE'
export const opening = (task: number, repeat: number) =>
  `Hello, I am customer ${task} and ask for the ${repeat}th time.`

/**
 * A made-up run of a support desk with everything that a page shows: several rewards, tool calls, faults of several owners,
 * missing scores, long tails of time. The same every time.
 */
export async function writeDeskRun(
  dir: string,
  { tasks, repeats }: { tasks: number; repeats: number },
): Promise<void> {
  const rng = createRng(7)
  const say = (n: number) => Array.from({ length: n }, () => words[rng.int(words.length)]).join(' ')
  // Near enough to log-normal to have its tail.
  const long = (middle: number) =>
    middle * Math.exp(1.5 * (rng.next() + rng.next() + rng.next() + rng.next() - 2))
  const node = (message: MessageNode['message'], parent: number): MessageNode => ({
    parent,
    seat: 'agent',
    sampled: message.role === 'assistant',
    message,
  })
  const orders: SampleOrder[] = []
  for (let task = 0; task < tasks; task++) {
    const skill = rng.next() ** 0.6
    for (let repeat = 0; repeat < repeats; repeat++) {
      const turns = 1 + rng.int(4)
      const modelMs = long(900) * turns
      const gradeMs = long(20)
      const nodes = [
        node({ role: 'system', content: `You help customers of a shop. ${say(60)}` }, -1),
        node({ role: 'user', content: `${opening(task, repeat)} ${say(12)}` }, 0),
      ]
      const calls: NonNullable<SampleAttempt['calls']> = []
      for (let turn = 0; turn < turns; turn++) {
        const tool = tools[turn % tools.length]!
        const last = turn === turns - 1
        nodes.push(
          node(
            last
              ? { role: 'assistant', content: say(20) }
              : {
                  role: 'assistant',
                  content: '',
                  toolCalls: [
                    {
                      id: `${turn}`,
                      name: tool,
                      arguments: JSON.stringify({ id: rng.int(9999), note: say(4) }),
                    },
                  ],
                },
            nodes.length - 1,
          ),
        )
        calls.push({
          seat: 'agent',
          prompt: nodes.length - 2,
          output: nodes.length - 1,
          model: 'sample-model',
          finish: last ? 'stop' : 'tool_calls',
          atMs: turn * 100,
          latencyMs: modelMs / turns,
          waitMs: 0,
        })
        if (!last)
          nodes.push(
            node(
              { role: 'tool', toolCallId: `${turn}`, name: tool, content: `{"ok":true,"note":"${say(6)}"}` },
              nodes.length - 1,
            ),
          )
      }
      const common: SampleAttempt = {
        nodes,
        calls,
        counts: { turns, toolCalls: turns - 1 },
        costUsd: { agent: 0.0004 * turns },
        usage: { agent: { fresh: 500 * turns, cacheRead: 200 * turns, cacheWrite: 0, output: 80 * turns } },
        timing: {
          wallMs: modelMs + gradeMs + 40,
          agentMs: modelMs + 40,
          modelMs,
          waitMs: rng.next() < 0.2 ? long(300) : 0,
          gradeMs,
        },
        private: { secret: canary, state: { gold: canary } },
      }
      const luck = rng.next()
      const solved = rng.next() < skill
      const reward = Number((0.7 * Number(solved) + 0.3 * rng.next()).toFixed(4))
      orders.push({
        task: taskName(task),
        attempts: [
          luck < 0.01
            ? {
                ...common,
                fault: {
                  owner: 'provider',
                  code: 'http_500',
                  message: 'the endpoint answered 500 five times',
                },
              }
            : luck < 0.015
              ? {
                  ...common,
                  fault: {
                    owner: 'world',
                    stage: 'tool',
                    code: 'timeout',
                    message: 'find_order took longer than 30 s',
                    retryable: false,
                  },
                }
              : luck < 0.02
                ? { ...common, unscored: 'no_answer' }
                : {
                    ...common,
                    reward,
                    success: solved,
                    outcome: solved
                      ? 'env_done'
                      : (['turn_limit', 'completed', 'escalated'] as const)[rng.int(3)]!,
                    rewards: { solved: Number(solved), polite: Number(rng.next() < 0.9) },
                    metrics: { words: rng.int(200) },
                  },
        ],
      })
    }
  }
  await writeSampleRun(dir, {
    orders,
    policy: 'sample-model',
    environment: {
      name: 'support-desk',
      rewards: { solved: { kind: 'reward', weight: 0.7 }, polite: { kind: 'reward', weight: 0.3 } },
      metrics: ['words'],
    },
  })
}
