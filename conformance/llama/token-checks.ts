import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldRun, readTrajectory, type TrajectoryRecord } from '../../packages/quintain/src/core/index.ts'
import { type AgentTurn, agent } from '../../packages/quintain/src/harness/index.ts'
import { environment, evaluate } from '../../packages/quintain/src/index.ts'
import { type RunRowsReport, runRows, type TokenRow } from '../../packages/quintain/src/rows/index.ts'
import type { Check } from './check.ts'
import { ask, type Said } from './programs.ts'
import { atSeat, llamaModel } from './seat.ts'
import type { LlamaServer } from './server.ts'
import { shown, tools } from './weather.ts'

const countries = environment({
  tasks: ['France', 'Italy'].map((country) => ({
    id: country,
    prompt: `What is the capital of ${country}?`,
  })),
  rewards: { said: ({ transcript }) => Number(transcript.answer !== '') },
})

const further = ['Say that in French: naïve, 東京.', 'And in one word?']

/** Asks on in one conversation, and reads every other reply as a stream. */
async function asksOn({ input, model }: AgentTurn): Promise<string> {
  const address = await model.address()
  const said: Said[] = [{ by: 'user', text: input }]
  for (let turn = 0; ; turn++) {
    const { text } = await ask('chat', address, { said, maxTokens: 20, stream: turn % 2 === 1 })
    if (turn === further.length) return text
    said.push({ by: 'model', text }, { by: 'user', text: further[turn]! })
  }
}

/** Calls a tool, which it has at hand itself, and reads what it gives. */
async function callsTool({ model }: AgentTurn): Promise<string> {
  const address = await model.address()
  const { text, calls } = await ask('chat', address, { said: shown, tools, maxTokens: 60, stream: true })
  const said: Said[] = [
    ...shown,
    { by: 'model', text, calls },
    ...calls.map(({ id }): Said => ({ by: 'tool', id, text: 'sunny' })),
  ]
  return (await ask('chat', address, { said, tools, maxTokens: 20 })).text
}

interface Played {
  report: RunRowsReport
  rows: TokenRow[]
  trajectories: ReadonlyMap<string, TrajectoryRecord>
}

/** An evaluation with an agent of the user's, and the rows that it gives. */
async function play(server: LlamaServer, run: (turn: AgentTurn) => Promise<string>): Promise<Played> {
  const room = mkdtempSync(join(tmpdir(), 'quintain-llama-'))
  try {
    const dir = join(room, 'run')
    const { coverage } = await evaluate(countries, { agent: agent(run), model: llamaModel(server), dir })
    assert.equal(coverage, 1)
    const rows: TokenRow[] = []
    const report = await runRows(dir, {
      onRow(row) {
        if (row.exactness !== 'text-only') rows.push(row)
      },
    })
    const trajectories = new Map<string, TrajectoryRecord>()
    for (const { chosen } of (await foldRun(dir)).states)
      if (chosen !== undefined) trajectories.set(chosen.id, await readTrajectory(dir, chosen))
    return { report, rows, trajectories }
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

/** Tokens, from the server to a trainer's rows. */
export const tokenChecks: Check[] = [
  {
    name: 'rows of a conversation hold what was sampled',
    async carryOut({ server }) {
      const { report, rows, trajectories } = await play(server, asksOn)
      assert.deepEqual([report.calls.kept, report.refused, report.issues], [6, {}, []])
      const broken = onlyRetokenised(report)
      assert.equal(sampledIn(rows), 6)
      if (!broken)
        assert.deepEqual(
          rows.map((row) => sampledIn([row])),
          [3, 3],
        )
      const calls = [...trajectories.values()].flatMap((trajectory) => trajectory.calls)
      assert.equal(
        report.tokens.sampled,
        calls.reduce((sum, { usage }) => sum + usage!.output, 0),
      )
      for (const row of rows) await checkRow(server, row, trajectories.get(row.attempt)!)
    },
  },
  {
    name: 'rows of a tool call hold what was sampled',
    async carryOut({ server }) {
      const { report, rows, trajectories } = await play(server, callsTool)
      assert.deepEqual([report.calls.kept, report.refused, report.rows['text-only']], [4, {}, 0])
      const broken = onlyRetokenised(report)
      assert.equal(sampledIn(rows), 4)
      if (!broken) assert.equal(report.rows['prefix-merged'], 2)
      for (const row of rows) await checkRow(server, row, trajectories.get(row.attempt)!)
    },
  },
  {
    name: 'a program sees log-probabilities when it asks for them, and no ids',
    carryOut: ({ server, gateway }) =>
      atSeat(gateway, llamaModel(server), async (address, calls) => {
        for (const stream of [false, true])
          for (const logprobs of [false, true]) {
            const said: Said[] = [{ by: 'user', text: 'Say hello.' }]
            const extra = logprobs ? { logprobs } : {}
            const { raw } = await ask('chat', address, { said, maxTokens: 4, stream, extra })
            const text = JSON.stringify(raw)
            assert.equal(/"logprob":/.test(text), logprobs, text)
            if (!logprobs) assert.doesNotMatch(text, /prompt_token_ids|"id":\d/)
            assert.deepEqual(Object.keys(calls.at(-1)!.tokens!).sort(), ['logprobs', 'output', 'prompt'])
          }
      }),
  },
]

/**
 * Whether a prefix broke. What the model said may come back as other tokens, which is a break, and told; whether it does
 * depends on what it says, and that on the processor and on who is answered at the same time.
 */
function onlyRetokenised({ breaks }: RunRowsReport): boolean {
  const causes = Object.keys(breaks)
  assert.deepEqual(
    causes.filter((cause) => cause !== 'retokenised'),
    [],
  )
  return causes.length > 0
}

function sampledIn(rows: readonly TokenRow[]): number {
  return rows.flatMap(({ spans }) => spans).filter(({ source }) => source === 'sampled').length
}

/** Whether a row says what the server says of the same tokens when it is asked about them alone. */
async function checkRow(server: LlamaServer, row: TokenRow, trajectory: TrajectoryRecord): Promise<void> {
  const { ids, mask, logprobs, spans } = row
  assert.deepEqual([mask.length, logprobs.length, spans.at(-1)!.end], [ids.length, ids.length, ids.length])
  assert.equal(spans[0]!.source, 'prompt')
  for (const { start, end, source, call } of spans) {
    for (let at = start; at < end; at++) {
      assert.equal(mask[at], source === 'sampled' ? 1 : 0)
      assert.ok(Number.isFinite(logprobs[at]) && logprobs[at]! <= 0)
      assert.ok(mask[at] === 1 || logprobs[at] === 0)
    }
    if (source !== 'sampled') continue
    const { message } = trajectory.nodes[trajectory.calls[call!]!.output]!
    const tokens = [...ids.subarray(start, end)]
    const { content } = (await server.ask('/detokenize', { tokens })) as { content: string }
    const called = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    if (called.length === 0) assert.equal(content.replace(/<\|im_end\|>$/, ''), message.content)
    else for (const one of called) assert.ok(content.includes(one.arguments), content)
    // After the very ids that stand before it, the server finds the same token as likely.
    for (const at of [start, end - 1]) await checkToken(server, ids.subarray(0, at), ids[at]!, logprobs[at]!)
  }
}

/** Of the same token's log-probability alone and beside others: quantised weights are multiplied in other shapes then. */
const mostApart = 0.2

interface Likely {
  completion_probabilities: { top_logprobs: { id: number; logprob: number }[] }[]
}

async function checkToken(
  server: LlamaServer,
  before: Int32Array,
  id: number,
  logprob: number,
): Promise<void> {
  const asked = { prompt: [...before], n_predict: 1, n_probs: 20, temperature: 0 }
  const { completion_probabilities: told } = (await server.ask('/completion', asked)) as Likely
  const same = told[0]!.top_logprobs.find((one) => one.id === id)
  assert.ok(same !== undefined, `token ${id} is none of the likely ones: ${JSON.stringify(told[0])}`)
  assert.ok(Math.abs(same.logprob - logprob) < mostApart, `${same.logprob} and ${logprob} for token ${id}`)
}
