import { z } from 'zod'
import {
  environment,
  type Message,
  ModelFault,
  QuintainError,
  type ToolSpec,
  type TrajectoryRecord,
} from '../../packages/quintain/src/core/index.ts'
import { Recorder } from '../../packages/quintain/src/core/recorder.ts'
import { openOptions } from '../../packages/quintain/src/engine/open-options.ts'
import { startFakeModel } from '../../packages/quintain/src/models/fake-server.ts'
import { createChatModel } from '../../packages/quintain/src/models/index.ts'
import {
  padRow,
  type RowsOptions,
  type RowsReport,
  requireRows,
  trainingRows,
  turnText,
  whyLeftOut,
} from '../../packages/quintain/src/rows/index.ts'

type Input = Record<string, unknown>

const user = (content: string): Message => ({ role: 'user', content })
const says = (content: string) => ({ role: 'assistant' as const, content })
const facts = { model: 'm', finish: 'stop' as const, atMs: 0, latencyMs: 0, waitMs: 0 }
const count = (length: unknown): number[] => Array.from({ length: Number(length ?? 0) }, (_, at) => at)

function trajectoryOf({ nodes, calls, toolSets }: Recorder): TrajectoryRecord {
  return {
    schema: 'quintain.trajectory',
    v: 1,
    attempt: 'attempt',
    order: 'task#0',
    task: 'task',
    seats: { agent: { policy: 'm', harness: 'case' } },
    nodes,
    calls,
    toolSets,
  }
}

interface Call {
  prompt?: readonly number[]
  output: readonly number[]
  /** A number for each token when absent. */
  logprobs?: readonly number[] | undefined
  finish?: 'stop' | 'length'
}

/** A conversation that only grows, whose calls had these tokens. */
function conversation(calls: readonly Call[]): Recorder {
  const recorder = new Recorder()
  const history = [user('go')]
  for (const [nth, { prompt = [], output, finish = 'stop', ...given }] of calls.entries()) {
    const logprobs = 'logprobs' in given ? given.logprobs : output.map(() => -1)
    const message = says(`answer ${nth}`)
    recorder.call(
      'agent',
      recorder.path('agent', history),
      message,
      { ...facts, finish },
      {
        promptIds: Int32Array.from(prompt),
        outputIds: Int32Array.from(output),
        ...(logprobs === undefined ? {} : { logprobs: Float32Array.from(logprobs) }),
      },
    )
    history.push(message, user(`on ${nth}`))
  }
  return recorder
}

function rowsOf(recorder: Recorder, options: Omit<RowsOptions, 'textOnly'> = {}) {
  return trainingRows(trajectoryOf(recorder), { ...options, textOnly: false, tokens: recorder.tokenChunk() })
}

function refuseEmpty({ refused, ...report }: RowsReport): void {
  const counts = Map.groupBy(refused, ({ reason }) => reason)
  requireRows({
    ...report,
    refused: Object.fromEntries([...counts].map(([reason, all]) => [reason, all.length])),
  })
}

function codeOf(make: () => void): { code: string; message: string } | undefined {
  try {
    make()
    return undefined
  } catch (error) {
    if (!QuintainError.isInstance(error)) throw error
    return { code: error.code, message: error.message }
  }
}

function exportRows({ assistant_messages_as_plain_dicts, choices_have_logprobs }: Input) {
  const recorder = new Recorder()
  const plain = assistant_messages_as_plain_dicts === true
  if (plain) recorder.path('agent', [user('go'), says('answer')])
  const sampled =
    choices_have_logprobs === false ? { output: [1, 2], logprobs: undefined } : { output: [1, 2] }
  const failed = codeOf(() => refuseEmpty(rowsOf(plain ? recorder : conversation([sampled])).report))
  const allZero = codeOf(() =>
    refuseEmpty(rowsOf(conversation([{ prompt: [1, 2], output: [3] }]), { maxLength: 2 }).report),
  )
  return {
    exported: failed === undefined,
    mask_all_zero_is_error: allZero?.code === 'no_sampled_tokens',
    // What others call choices are calls here.
    error: failed === undefined ? null : plain ? 'no_sampled_choices' : failed.code,
    message: failed?.message,
  }
}

function exportConversations({ trace_branches, tools, stop, traces, min_reward }: Input) {
  const minReward = typeof min_reward === 'number' ? min_reward : undefined
  const isKept = (trace: Input) => {
    const owner =
      trace['stop'] === 'error' ? 'provider' : trace['score_error'] === true ? 'grader' : undefined
    const fault =
      owner === undefined
        ? null
        : ({ owner, stage: 'model', code: 'broke', message: '', retryable: false } as const)
    const reward = typeof trace['reward'] === 'number' ? trace['reward'] : null
    const verdict = { reward, success: null, rewards: {}, metrics: {} }
    const status = fault !== null ? 'faulted' : reward === null ? 'unscored' : 'scored'
    return whyLeftOut(status, { verdict, fault }, { textOnly: true, minReward }) === undefined
  }
  if (Array.isArray(traces)) {
    return { kept: traces.flatMap((trace: Input, at) => (isKept(trace) ? [at] : [])) }
  }
  const recorder = new Recorder()
  const specs = count(tools).map((n): ToolSpec => ({ name: `tool-${n}`, description: '', parameters: {} }))
  for (const branch of count(trace_branches)) {
    const history = [user('go'), says(`edited ${branch}`), user('on')]
    recorder.call('agent', recorder.path('agent', history), says(`answer ${branch}`), {
      ...facts,
      tools: specs,
    })
  }
  const { rows } = trainingRows(trajectoryOf(recorder), { textOnly: true })
  return {
    rows: isKept({ stop }) ? rows.length : 0,
    tools_column: rows.length > 0 && rows.every(({ tools: told }) => told?.length === specs.length),
  }
}

/** The budget of a request is the server's: nothing is worked out from it that could be negative. */
async function budget({ prompt_tokens, context }: Input) {
  const [prompt, most] = [Number(prompt_tokens), Number(context)]
  const message = `This model's maximum context length is ${most} tokens. However, your messages resulted in ${prompt} tokens.`
  const fake = await startFakeModel({
    otherwise:
      prompt >= most
        ? { kind: 'status', status: 400, body: { error: { message, code: 'context_length_exceeded' } } }
        : { kind: 'ok' },
  })
  const model = createChatModel({ model: 'fake', baseUrl: fake.url, retry: { maxRetries: 0 } })
  const outcome = await model
    .generate({ messages: [user('go')] }, { signal: new AbortController().signal })
    .then(
      () => 'completed',
      (thrown: unknown) => {
        if (!(thrown instanceof ModelFault)) throw thrown
        return thrown.outcome ?? thrown.fault.code
      },
    )
  const sent = fake.requests[0]?.body as Input | undefined
  await model.close?.()
  await fake.close()
  return { outcome, max_tokens_sent: sent?.['max_tokens'] ?? sent?.['max_completion_tokens'] ?? null }
}

async function setOption({ name, known }: Input) {
  const names = (known as string[]) ?? []
  const { definition } = environment({
    options: z.object(Object.fromEntries(names.map((one) => [one, z.unknown().optional()]))),
    tasks: [{ id: 'task' }],
    rewards: { any: () => 1 },
  })
  try {
    await openOptions(definition, { [String(name)]: 1 })
    return { accepted: true, suggestion: null }
  } catch (error) {
    if (!QuintainError.isInstance(error)) throw error
    return { accepted: false, suggestion: /did you mean "([^"]*)"/.exec(error.message)?.[1] ?? null }
  }
}

function incremental({ template, turns, then, generated_stops_at }: Input) {
  const stop = generated_stops_at === undefined ? {} : { stop: String(generated_stops_at) }
  const text = (generate: boolean) =>
    turnText(String(template), turns as [string, string][], { generate, ...stop })
  const whole = text(then === 'generate')
  return { text: whole, prompt_ends_with: whole.slice(text(false).length) }
}

function trainingRow({ sampled }: Input) {
  const ids = ((sampled ?? []) as { id: number }[]).map(({ id }) => id)
  const { rows } = rowsOf(conversation([{ output: ids }]))
  return { ids: rows[0]?.ids, mask: rows[0]?.mask }
}

function prefixCheck({ turn1_ids, turn2_prompt_ids }: Input) {
  const first = { output: turn1_ids as number[] }
  const { rows } = rowsOf(conversation([first, { prompt: turn2_prompt_ids as number[], output: [0] }]))
  const whole = rows.length === 1
  return { prefix_ok: whole, action: whole ? 'merge' : 'split_into_branches', throws: false }
}

/** Ids are of the same prompt only where everything is that the server renders. */
function prefixReuse({ messages_equal, tools_equal }: Input) {
  const recorder = new Recorder()
  const tool = (name: string): ToolSpec => ({ name, description: '', parameters: {} })
  const ask = (content: string, name: string) =>
    recorder.call('agent', recorder.path('agent', [user(content)]), says('x'), {
      ...facts,
      tools: [tool(name)],
    })
  ask('go', 'look')
  ask(messages_equal === true ? 'go' : 'stay', tools_equal === true ? 'look' : 'take')
  const [first, second] = recorder.calls
  return { reuse: first?.prompt === second?.prompt && first?.tools === second?.tools }
}

/** Stretches of what was sampled are calls, and what tools said stands between them. */
function truncated({ completion_mask, tool_mask, ended, drop_truncated }: Input) {
  const sampled = tool_mask as number[]
  const calls: { prompt: number[]; output: number[] }[] = []
  for (const [at, one] of sampled.entries()) {
    if (one === 0) continue
    if (sampled[at - 1] !== 1) calls.push({ prompt: count(at), output: [] })
    calls.at(-1)!.output.push(at)
  }
  const finish = (nth: number) => (ended !== true && nth === calls.length - 1 ? 'length' : 'stop')
  const recorder = conversation(calls.map((call, nth) => ({ ...call, finish: finish(nth) })))
  const [row] = rowsOf(recorder, { dropTruncated: drop_truncated === true }).rows
  const keep = (mask: unknown) => (mask as number[]).map((one) => (row === undefined ? 0 : one))
  return {
    completion_mask: keep(completion_mask),
    tool_mask: sampled.map((_, at) => row?.mask[at] ?? 0),
  }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'env.set_option': setOption,
  'export.grpo': exportRows,
  'export.sft': exportConversations,
  'request.budget': budget,
  'tokens.attention': ({ ids, length, pad }) => {
    const all = ids as number[]
    const own = Int32Array.from(all.slice(0, Number(length)))
    const row = { ids: own, mask: new Uint8Array(own.length), logprobs: new Float32Array(own.length) }
    return { attention: padRow(row, { length: all.length, pad: Number(pad) }).attention }
  },
  'tokens.incremental': incremental,
  'tokens.prefix_check': prefixCheck,
  'tokens.prefix_reuse': prefixReuse,
  'tokens.training_row': trainingRow,
  'tokens.truncate': ({ prompt_ids, max }) => {
    const recorder = conversation([{ output: count(prompt_ids) }])
    const [row] = rowsOf(recorder, { maxLength: Number(max) }).rows
    return { prompt_ids: row?.ids.length, prompt_mask: row?.mask.length }
  },
  'tokens.truncated': truncated,
  'tokens.validate': ({ completion_ids, mask, logprobs }) => {
    const [row] = rowsOf(conversation([{ output: count(completion_ids), logprobs: count(logprobs) }])).rows
    // The mask of a row is made with its ids; one that came from elsewhere has their length or is none.
    return { valid: row !== undefined && row.mask.length === Number(mask) }
  },
}
