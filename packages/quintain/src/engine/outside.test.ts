import { describe, expect, test } from 'vitest'
import { FaultError, type HarnessContext, type Message, ModelFault, QuintainError } from '../core/index.ts'
import type { RecordedGraph } from '../core/recorder.ts'
import { SeatStop } from '../gateway/index.ts'
import { outside, packaged, talk, till } from './__fixtures__/outside.ts'
import { filesOf, modelThat, never, pause, recorded, resumed, say } from './__fixtures__/recorded.ts'
import type { RunOptions } from './run-options.ts'

const oracle = { policy: 'script:oracle' }
const speak = { policy: 'script:speak' }
const places = ['worker', 'inline'] as const
const one = { tasks: ['A'] }

const linesOf = (nodes: RecordedGraph['nodes']) =>
  nodes.map(({ message: { role, content }, sampled }) => `${role}${sampled ? '*' : ''}: ${String(content)}`)

/** Messages from the root to a node. */
function wayTo(nodes: RecordedGraph['nodes'], leaf: number): Message[] {
  const found: Message[] = []
  for (let at = leaf; at >= 0; at = nodes[at]!.parent) found.unshift(nodes[at]!.message)
  return found
}

describe.each(places)('an agent outside its world, which is in a %s', (isolation) => {
  const here: Partial<RunOptions> = { isolation, workers: 1 }
  const play = async (
    run: Parameters<typeof outside>[0],
    options: Partial<RunOptions> & { behind?: object; body?: string } = {},
  ) => {
    const { behind = oracle, body = till(), ...rest } = options
    return recorded(
      await packaged(body),
      { agent: outside(run), ...(behind === undefined ? {} : { behind: behind as typeof oracle }) },
      { ...here, ...one, ...rest },
    )
  }

  test('plays with the policy behind it, and each side is recorded', async () => {
    const run = await play(talk)
    expect(run.only).toMatchObject({
      outcome: 'env_done',
      stop: 'said',
      fault: null,
      verdict: { reward: 1, success: true, metrics: { seen: 9, calls: 1, steps: 2 } },
      counts: { turns: 3, toolCalls: 1 },
      costUsd: { agent: 0 },
    })
    expect(run.only.counts.flags).toBeUndefined()
    const { nodes, calls, seats, leaves } = await run.trajectory()
    expect(seats['agent']).toMatchObject({
      policy: 'script:oracle',
      harness: 'program@1',
      tools: [{ name: 'pay' }],
    })
    expect(run.end.manifest).toMatchObject({
      isolation,
      seats: { agent: { policy: 'script:oracle', harness: 'program@1' } },
    })
    // The world's side ends where it was when the agent was done; the model's comes after it.
    expect(wayTo(nodes, leaves!['agent']!).map(({ role, content }) => `${role}: ${String(content)}`)).toEqual(
      [
        'system: You are a clerk.',
        'user: Pay back A',
        'user: The shop is open.',
        'assistant: ',
        'tool: paid {"order":"A"}',
        'assistant: Paid.',
        'user: Which number?',
        'assistant: canary-gold-A',
        'user: Right.',
      ],
    )
    expect(linesOf(nodes).filter((line) => line.startsWith('assistant*'))).toEqual([
      'assistant*: Let me see.',
      'assistant*: Paid.',
      'assistant*: canary-gold-A',
    ])
    expect(calls.map(({ output }) => nodes[output]?.sampled)).toEqual([true, true, true])
    // What both sides begin with is stored once.
    expect(linesOf(nodes).filter((line) => line.startsWith('system'))).toHaveLength(1)
  })

  test('plays with a model behind it, which is told whose call it is', async () => {
    const asked: object[] = []
    const model = modelThat((_request, { task, repeat, seat }, call) => {
      asked.push({ task, repeat, seat })
      return {
        message: say(call % 2 === 0 ? 'hm' : 'canary-gold-A'),
        costUsd: 2,
        usage: { fresh: 1, cacheRead: 0, cacheWrite: 0, output: 3 },
      }
    })
    const run = await play(talk, { behind: { model }, repeats: 2, concurrency: 1 })
    expect(
      run.attempts.map(({ costUsd, usage, counts }) => [costUsd.agent, usage.agent.output, counts.turns]),
    ).toEqual([
      [4, 6, 2],
      [4, 6, 2],
    ])
    expect(asked.map((call) => JSON.stringify(call))).toEqual(
      [0, 0, 1, 1].map((repeat) => JSON.stringify({ task: 'A', repeat, seat: 'agent' })),
    )
  })

  test('is told what is public, and nothing else', async () => {
    let held = ''
    const run = await play(async (context) => {
      const turn = await context.reply!('hello')
      const { model: _, box: __, signal: ___, rng, ...plain } = context
      held = JSON.stringify({ plain, turn, specs: context.tools.specs, drawn: rng.next() })
      return { outcome: 'completed', answer: 'done' }
    })
    expect(run.only.outcome).toBe('completed')
    const seen = JSON.parse(held)
    expect(seen.plain).toMatchObject({
      task: { id: 'A', split: 'test', prompt: 'Pay back A', data: { shop: 'A' } },
      seat: 'agent',
      endpoints: { SHOP_URL: 'http://shop.invalid/A' },
      limits: { wallMs: 3_600_000 },
    })
    // What a step is worth is for graders.
    expect(seen.turn).toEqual({ content: 'Which number?' })
    expect(held).not.toContain('canary')
    for (const [where, text] of await filesOf(run.dir, 'publishable'))
      expect(text, where).not.toContain('canary')
  })

  test('has its last answer in the transcript, said or not', async () => {
    const said = await play(async () => ({ outcome: 'completed', answer: 'canary-like' }))
    expect(said.only.verdict?.metrics['seen']).toBe(4)
    const silent = await play(async () => ({ outcome: 'completed' }))
    expect(silent.only.verdict?.metrics['seen']).toBe(3)
    const held = await play(async ({ model, messages }) => {
      model.record([...messages, say('by other means')])
      return { outcome: 'completed' }
    })
    expect(held.only).toMatchObject({
      verdict: { metrics: { seen: 4 } },
      counts: { turns: 1 },
      costUsd: { agent: null },
    })
  })

  test('that makes nothing of its model is flagged', async () => {
    const run = await play(async () => ({ outcome: 'completed', answer: 'by heart' }))
    expect(run.only.counts).toMatchObject({ turns: 0, flags: { no_model_call: 1 } })
    const none = await recorded(
      await packaged(till()),
      { agent: outside(async () => ({ outcome: 'completed', answer: 'by heart' })) },
      { ...here, ...one },
    )
    expect(none.only.counts.flags).toBeUndefined()
    expect(none.end.manifest.seats['agent']).toEqual({ policy: 'agent:program@1', harness: 'program@1' })
  })

  test('that broke off for a fault, or whose calls failed, is not said to have asked nothing', async () => {
    const fault = {
      owner: 'platform',
      stage: 'agent',
      code: 'not_there',
      message: 'no',
      retryable: false,
    } as const
    const broke = await play(async () => {
      throw new FaultError(fault)
    })
    expect(broke.only.fault).toMatchObject({ code: 'not_there' })
    expect(broke.only.counts.flags).toBeUndefined()
    const model = modelThat(() => {
      throw new ModelFault({ ...fault, code: 'refused' }, { outcome: 'refused' })
    })
    const failed = await play(
      async ({ model, messages }) => {
        await model.generate({ messages }).catch(() => {})
        return { outcome: 'completed', answer: 'none' }
      },
      { behind: { model } },
    )
    expect(failed.only.counts.flags).toBeUndefined()
  })

  test('that brings its own model has no address, and is told what to do', async () => {
    const errors: unknown[] = []
    const run = await recorded(
      await packaged(till()),
      {
        agent: outside(async ({ model, messages }) => {
          await model.address().catch((error: unknown) => errors.push(error))
          await model.generate({ messages })
          return { outcome: 'completed' }
        }),
      },
      { ...here, ...one },
    )
    expect(errors.map((error) => QuintainError.isInstance(error) && error.code)).toEqual(['needs_unmet'])
    expect(run.only.fault).toMatchObject({ owner: 'platform', code: 'no_model', retryable: false })
  })

  test('ends at its limits, whatever it makes of them', async () => {
    const stubborn = async (context: HarnessContext) => {
      for (;;) {
        try {
          return await talk(context)
        } catch {
          return { outcome: 'completed', answer: 'canary!' } as const
        }
      }
    }
    const turns = await play(stubborn, { limits: { turns: 2 } })
    expect(turns.only).toMatchObject({ outcome: 'turn_limit', fault: null, counts: { turns: 2 } })
    const model = modelThat(() => ({
      message: say('on and on'),
      costUsd: 1,
      usage: { fresh: 1, cacheRead: 0, cacheWrite: 0, output: 10 },
    }))
    const tokens = await play(stubborn, { behind: { model }, limits: { tokens: 25 } })
    expect(tokens.only).toMatchObject({ outcome: 'token_limit', usage: { agent: { output: 30 } } })
    const cost = await play(talk, { behind: { model }, limits: { costUsd: 2 } })
    expect(cost.only).toMatchObject({ outcome: 'cost_limit', costUsd: { agent: 2 } })
    const call = [{ id: '1', name: 'pay', arguments: '{}' }]
    const tools = await play(
      async (context) => {
        await talk(context).catch(() => {})
        await context.tools.run(call, { truncated: false }).catch(() => {})
        return { outcome: 'completed', answer: 'canary!' }
      },
      { limits: { turns: 1 }, behind: speak },
    )
    expect(tools.only).toMatchObject({
      outcome: 'turn_limit',
      verdict: { reward: 0 },
      counts: { toolCalls: 0 },
    })
    const throws = await play(
      async (context) => {
        await talk(context).catch(() => {})
        throw new Error('an error of its own')
      },
      { limits: { turns: 1 } },
    )
    expect(throws.only).toMatchObject({ outcome: 'turn_limit', fault: null })
  })

  test('is told of the wall, and keeps what it had done', async () => {
    let told: unknown
    const run = await play(
      async ({ model, messages, signal }) => {
        await model.generate({ messages })
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        told = signal.reason
        return { outcome: 'completed', answer: 'too late' }
      },
      { limits: { wall: '300ms' } },
    )
    expect(run.only).toMatchObject({ outcome: 'wall_limit', fault: null, counts: { turns: 1 } })
    expect(told).toBeInstanceOf(Error)
    expect((await run.trajectory()).calls).toHaveLength(1)
    expect(JSON.stringify(await run.trajectory())).not.toContain('too late')
  })

  test('does not hold the run when it never ends', async () => {
    const run = await play(never, { limits: { wall: '50ms' } })
    expect(run.only).toMatchObject({ outcome: 'wall_limit', fault: null })
    const log = (await filesOf(run.dir, 'private')).get('private/worker.log')
    expect(log).toContain('it is left alone')
  }, 60_000)

  test('has no clock running while the world has the turn or a call waits', async () => {
    const model = modelThat(async (_request, { onWait }, call) => {
      if (call > 0) return 'canary-gold-A'
      onWait?.(true, 'queue')
      await pause(400)
      onWait?.(false)
      return 'hello'
    })
    const slow = till().replace(
      'reply: (said)',
      'reply: async (said) => { await pause(400); return turn(said) }, turn: (said)',
    )
    const body = slow.replace(
      'let paid = false',
      'let paid = false; const turn = (said) => said.startsWith("canary") ? { content: "", done: "said" } : { content: "on" }',
    )
    const run = await play(talk, { behind: { model }, body, limits: { wall: '390ms' } })
    expect(run.only).toMatchObject({ outcome: 'env_done', fault: null })
    expect(run.only.timing.agentMs).toBeLessThan(390)
  })

  test('is to blame for what its own program throws', async () => {
    const run = await play(async () => {
      throw new TypeError('no such canary-gold-A')
    })
    expect(run.only).toMatchObject({ outcome: 'agent_error', fault: null, verdict: { reward: 0 } })
    expect(run.only.stop).toContain('no such [secret]')
    expect((await run.hidden())?.errors?.[0]?.text).toContain('TypeError: no such canary-gold-A')
    for (const bad of [null, {}, { outcome: 'cancelled' }, { outcome: 'completed', answer: 7 }]) {
      const odd = await play(async () => bad as never)
      expect(odd.only, JSON.stringify(bad)).toMatchObject({ outcome: 'agent_error', fault: null })
      expect(odd.only.stop).toContain('harness program@1 gave')
    }
  })

  test('may name the fault of a failure that is not its own', async () => {
    const lost = {
      owner: 'sandbox',
      code: 'sandbox_lost',
      message: 'the box is gone',
      retryable: false,
    } as const
    for (const thrown of [new FaultError(lost), new SeatStop({ fault: { ...lost, stage: 'agent' } })]) {
      const run = await play(async () => {
        throw thrown
      })
      expect(run.only).toMatchObject({ outcome: null, fault: lost, verdict: null })
    }
    const ours = await play(async () => {
      throw new QuintainError('usage', 'There is no program "nothing".')
    })
    expect(ours.only.fault).toMatchObject({ owner: 'platform', code: 'usage', retryable: false })
  })

  test('ends with a fault of the world that it hides', async () => {
    const body = till().replace(
      "{ paid = true; return 'paid ' + JSON.stringify(given) }",
      '{ throw new Error("out of order") }',
    )
    const told: unknown[] = []
    const run = await play(
      async ({ tools }) => {
        await tools
          .run([{ id: '1', name: 'pay', arguments: '{}' }], { truncated: false })
          .catch((error: unknown) => told.push(error))
        return { outcome: 'completed', answer: 'fine' }
      },
      { body, maxTries: 1 },
    )
    expect(run.only.fault).toMatchObject({ owner: 'world', stage: 'tool', code: 'threw' })
    expect(String(told[0])).not.toContain('out of order')
  })

  test('ends with a fault of its model that it hides', async () => {
    const body = till().replace("yield 'Paid.'", "throw new Error('lost at ' + task.secret.number)")
    const told: unknown[] = []
    const run = await play(
      async (context) => {
        await talk(context).catch((error: unknown) => told.push(error))
        return { outcome: 'completed', answer: 'fine' }
      },
      { body },
    )
    expect(run.only.fault).toMatchObject({ owner: 'platform', stage: 'model', code: 'script_threw' })
    expect(String(told[0])).toContain('lost at [secret]')
    expect(String(told[0])).not.toContain('canary')
  })

  test('does nothing any more once its part is over', async () => {
    let late: HarnessContext | undefined
    const run = await play(async (context) => {
      late = context
      await context.model.generate({ messages: context.messages })
      return { outcome: 'completed', answer: 'done' }
    })
    const before = JSON.stringify(await run.trajectory())
    const call = [{ id: '1', name: 'pay', arguments: '{}' }]
    for (const attempt of [
      () => late!.tools.run(call, { truncated: false }),
      () => late!.reply!('canary-gold-A'),
      () => late!.model.generate({ messages: [] }),
      async () => late!.model.record([]),
      () => late!.model.address(),
    ])
      await expect(attempt()).rejects.toThrow()
    expect(late!.signal.aborted).toBe(true)
    expect([run.only.verdict?.reward, JSON.stringify(await run.trajectory())]).toEqual([0, before])
  })

  test('leaves what it asked its model out of what graders of a group read', async () => {
    const body = till(
      `groupRewards: { same: { weight: 1, atLeast: 1, reward: ({ members }) => Object.fromEntries(members.map(({ id, transcript }) => [id, transcript.messages.length])) } },`,
    )
    const run = await play(talk, { body })
    const state = run.states[0]!
    expect(state.chosen?.verdict?.rewards['same']).toBe(9)
  })

  test('is cancelled with the run, and its order stays open', async () => {
    const controller = new AbortController()
    let aborted = false
    const run = await play(
      async ({ signal }) => {
        controller.abort()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        aborted = true
        return { outcome: 'completed' }
      },
      { signal: controller.signal, graceMs: 10 },
    )
    expect([run.attempts[0]?.outcome, run.states[0]?.status, aborted]).toEqual([
      'cancelled',
      'cancelled',
      true,
    ])
    const again = await resumed(run, { players: { agent: { agent: outside(talk) } } })
    expect(again.states[0]).toMatchObject({ status: 'scored', chosen: { verdict: { reward: 1 } } })
  })

  test('ends at once with a run that is stopped hard', async () => {
    const hard = new AbortController()
    let context: HarnessContext | undefined
    const run = await play(
      (given) => {
        context = given
        hard.abort()
        return never()
      },
      { hardSignal: hard.signal },
    )
    expect(run.states[0]?.status).not.toBe('scored')
    await expect.poll(() => context?.signal.aborted).toBe(true)
  })
})

test('speaks to a script that has nothing more to say', async () => {
  const run = await recorded(
    await packaged(till()),
    { agent: outside(talk), behind: speak },
    { ...one, workers: 1 },
  )
  expect(run.only).toMatchObject({ outcome: 'completed', counts: { turns: 3 } })
})
