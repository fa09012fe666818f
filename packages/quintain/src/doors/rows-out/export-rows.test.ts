import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runFiles } from '../../core/index.ts'
import { result, says, system, Talk, user } from '../../rows/__fixtures__/talk.ts'
import { gold, groupRun, type Played, rowsOf } from './__fixtures__/groups.ts'
import type { ArtGroup } from './art-groups.ts'
import { type ExportRowsOptions, exportRows, type TrainerForm } from './index.ts'
import type { PreferenceRow } from './preference-rows.ts'
import type { SftRow } from './sft-rows.ts'
import type { TinkerRow } from './tinker-rows.ts'
import type { TrlRow } from './trl-rows.ts'

const sum = user('1 + 1?')
const said = (answer: string, question = sum) => {
  const talk = new Talk()
  talk.ask([system('Be brief.'), question], answer)
  return talk
}
const forms: TrainerForm[] = ['sft', 'preference', 'tinker', 'art', 'trl']

/** A task with a success, a failure, no score and a fault; another that nobody solved. */
const mixed: Played[] = [
  { task: 'a', talk: said('2'), reward: 1 },
  { task: 'a', talk: said('3'), reward: 0 },
  { task: 'a', talk: said('unscored'), reward: null },
  { task: 'a', talk: said('faulted'), fault: 'provider' },
  { task: 'b', talk: said('4'), reward: 0 },
]

describe('rows for fine-tuning', () => {
  test('are of what succeeded, in the shape of chat files, with where they come from', async () => {
    const { rows, report } = await rowsOf<SftRow>(await groupRun(mixed), { form: 'sft' })
    expect(rows).toHaveLength(1)
    const [{ lineage, ...row }] = rows as [SftRow]
    expect(row).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '1 + 1?' },
        { role: 'assistant', content: '2' },
      ],
    })
    expect(lineage).toMatchObject({
      schema: 'quintain.sft-row',
      v: 1,
      environment: 'sample',
      environment_digest: 'inline',
      rubric: 'rubric-1',
      task: 'a',
      order: 'a#0',
      policy: 'script:sample',
      reward: 1,
      success: true,
      filter: 'success',
      threshold: null,
      exactness: 'text-only',
    })
    expect(report).toMatchObject({
      rows: 1,
      tasks: { withRows: 1, withoutRows: 1 },
      attempts: { used: 1, leftOut: { filtered: 2, unscored: 1, faulted: 1 } },
    })
  })

  test('of everything have no number where there was no score, and nothing of a fault', async () => {
    const { rows } = await rowsOf<SftRow>(await groupRun(mixed), { form: 'sft', filter: { kind: 'all' } })
    expect(rows.map(({ lineage: { order, reward } }) => [order, reward])).toEqual([
      ['a#0', 1],
      ['a#1', 0],
      ['a#2', null],
      ['b#0', 0],
    ])
  })

  test('have tools, calls and reasoning, and no weight where somebody else spoke', async () => {
    const talk = new Talk()
    const call = says('', {
      reasoning: 'Add them.',
      toolCalls: [{ id: 'c', name: 'add', arguments: '{"a": 1' }],
    })
    const add = { name: 'add', description: 'Adds.', parameters: { type: 'object' } }
    const greeting = says('Hello, what is it?')
    talk.ask([greeting, sum], call, { tools: [add] })
    talk.ask([greeting, sum, call, result('2')], '2', { tools: [add] })
    const { rows } = await rowsOf<SftRow>(await groupRun([{ task: 'a', talk }]), { form: 'sft' })
    const [{ messages, tools }] = rows as [SftRow]
    expect(messages).toEqual([
      { role: 'assistant', content: 'Hello, what is it?', weight: 0 },
      { role: 'user', content: '1 + 1?' },
      {
        role: 'assistant',
        content: '',
        reasoning_content: 'Add them.',
        // As it was sampled, whole or not.
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{"a": 1' } }],
      },
      { role: 'tool', content: '2', tool_call_id: 'c' },
      { role: 'assistant', content: '2' },
    ])
    expect(tools).toEqual([{ type: 'function', function: add }])
  })

  test('of the best of n count orders, so that a fault makes no choice easier', async () => {
    const played = [0.1, 0.9, 0.9, 0.2, 0.7, 0.8].map((reward, at) => ({
      task: 'a',
      talk: said(String(at)),
      reward,
    }))
    const dir = await groupRun([
      ...played.slice(0, 3),
      { task: 'a', talk: said('faulted'), fault: 'world' as const },
      ...played.slice(3),
    ])
    const { rows, report } = await rowsOf<SftRow>(dir, {
      form: 'sft',
      bestOfN: 4,
      filter: { kind: 'reward', least: 0.5 },
    })
    expect(rows.map(({ messages }) => messages.at(-1)!.content)).toEqual(['1'])
    expect(rows[0]!.lineage).toMatchObject({ best_of_n: 4, filter: 'reward>=0.5', threshold: 0.5 })
    // The last three orders are no four.
    expect(report.attempts.leftOut).toEqual({ not_best: 2, faulted: 1, short_of_n: 3 })
  })

  test('of a task are as many as wanted', async () => {
    const played = ['x', 'y', 'z'].map((answer) => ({ task: 'a', talk: said(answer) }))
    const { rows, report } = await rowsOf<SftRow>(await groupRun(played), { form: 'sft', maxPerTask: 2 })
    expect(rows.map(({ messages }) => messages.at(-1)!.content)).toEqual(['x', 'y'])
    expect(report.attempts.leftOut).toEqual({ over_max: 1 })
  })
})

describe('preference pairs', () => {
  test('put better with worse, each attempt once, without ties and without what has no score', async () => {
    const rewards = [1, 0, 1, 1, 0.5]
    const played: Played[] = rewards.map((reward, at) => ({ task: 'a', talk: said(`answer ${at}`), reward }))
    const dir = await groupRun([...played, { task: 'a', talk: said('unscored'), reward: null }])
    const { rows, report } = await rowsOf<PreferenceRow>(dir, { form: 'preference' })
    expect(rows.map(({ lineage: { chosen, rejected } }) => [chosen.reward, rejected.reward])).toEqual([
      [1, 0.5],
      [1, 0],
    ])
    expect(report.pairs).toEqual({ made: 2 })
    expect(report.attempts).toEqual({ used: 4, leftOut: { unscored: 1, unpaired: 1 } })
    const good = { kind: 'success' } as const
    const right = await rowsOf<PreferenceRow>(dir, { form: 'preference', filter: good, maxPerTask: 1 })
    expect(right.rows.map(({ lineage: { chosen, rejected } }) => [chosen.reward, rejected.reward])).toEqual([
      [1, 0],
    ])
    const far = await rowsOf<PreferenceRow>(dir, { form: 'preference', margin: 0.6 })
    expect(
      far.rows.map(({ lineage: { rejected, margin, difference } }) => [rejected.reward, margin, difference]),
    ).toEqual([[0, 0.6, 1]])
  })

  test('that differ by too little are told so, with the margin that was asked for', async () => {
    const dir = await groupRun(mixed)
    const none = (options: Pick<ExportRowsOptions, 'margin' | 'filter'>) =>
      rowsOf<PreferenceRow>(dir, { form: 'preference', ...options })
    await expect(none({ margin: 100 })).rejects.toMatchObject({
      code: 'export_refused',
      message: expect.stringMatching(
        /no two attempts .* differ by 100 or more \(.*unpaired 3.*smaller margin/,
      ),
    })
    await expect(none({ filter: { kind: 'reward', least: 2 } })).rejects.toThrow(
      /rewards that differ, the better one passing the filter reward>=2 \(.*Play each task more often/,
    )
  })

  test('share a prompt to the place where the model went another way', async () => {
    const after = (second: string) => {
      const talk = new Talk()
      const first = talk.ask([sum], says('', { toolCalls: [{ id: second, name: 'add', arguments: '{}' }] }))
      talk.ask([sum, first, result('2', second)], second)
      return talk
    }
    const dir = await groupRun([
      { task: 'a', talk: after('two'), reward: 1 },
      { task: 'a', talk: after('three'), reward: 0 },
    ])
    const { rows } = await rowsOf<PreferenceRow>(dir, { form: 'preference' })
    const [{ prompt, chosen, rejected }] = rows as [PreferenceRow]
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect([chosen, rejected]).toEqual([
      [{ role: 'assistant', content: 'two' }],
      [{ role: 'assistant', content: 'three' }],
    ])
  })

  test('are not made of another question, of the same text, or of two measurements', async () => {
    const pair = (better: Talk, worse: Talk): Played[] => [
      { task: 'a', talk: better, reward: 1 },
      { task: 'a', talk: worse, reward: 0 },
    ]
    const other = await groupRun(pair(said('2'), said('3', user('2 + 1?'))))
    const same = await groupRun(pair(said('2'), said('2')))
    const counted = async (dirs: string[]) => (await exportRows(dirs, { form: 'preference' })).pairs
    expect(await counted([other])).toEqual({ made: 0, prompts_differ: 1 })
    expect(await counted([same])).toEqual({ made: 0, same_text: 1 })
    const [better, worse] = pair(said('2'), said('3')) as [Played, Played]
    const one = await groupRun([better])
    expect(await counted([one, await groupRun([worse])])).toEqual({ made: 1 })
    const graded = await groupRun([worse], (manifest) => {
      manifest.rubric = 'rubric-2'
    })
    expect(await counted([one, graded])).toEqual({ made: 0 })
  })
})

/** Two attempts at a task whose tokens are known, one of two calls. */
const twoTurns = () => {
  const talk = new Talk()
  const first = talk.ask([sum], 'Hm')
  talk.ask([sum, first, user('?')], '2')
  return talk
}

describe('rows of tokens', () => {
  const played = (): Played[] => [
    { task: 'a', talk: twoTurns(), reward: 1 },
    { task: 'a', talk: said('33', sum), reward: 0.5 },
    { task: 'a', talk: said('4'), reward: null },
    { task: 'a', talk: said('5'), fault: 'world' },
  ]

  test('are datums of Tinker, told of the next token, with advantages from the mean of what was scored', async () => {
    const { rows, report } = await rowsOf<TinkerRow>(await groupRun(played()), { form: 'tinker' })
    const [{ lineage, datum }, second] = rows as [TinkerRow, TinkerRow]
    expect(lineage).toMatchObject({ baseline: 0.75, group_size: 2, exactness: 'prefix-merged', loss: 'rl' })
    expect(second.lineage).toMatchObject({ baseline: 0.75, reward: 0.5, group: lineage.group })
    const { asked } = played()[0]!.talk
    const whole = [...asked[1]!.prompt, ...asked[1]!.output]
    const [{ tokens }] = datum.model_input.chunks
    const inputs = datum.loss_fn_inputs as Extract<typeof datum.loss_fn_inputs, { advantages: unknown }>
    expect([tokens, inputs.target_tokens.data]).toEqual([whole.slice(0, -1), whole.slice(1)])
    const sampledAt = (place: number) =>
      (place >= asked[0]!.prompt.length && place < asked[0]!.prompt.length + asked[0]!.output.length) ||
      place >= asked[1]!.prompt.length
    expect(inputs.advantages.data).toEqual(whole.slice(1).map((_, at) => (sampledAt(at + 1) ? 0.25 : 0)))
    const probabilities = [...asked[0]!.logprobs, ...asked[1]!.logprobs]
    expect(inputs.logprobs.data.filter((_, at) => sampledAt(at + 1))).toEqual(
      probabilities.map((value) => Number(Math.fround(value).toPrecision(9))),
    )
    for (const tensor of Object.values(inputs)) expect(tensor.shape).toEqual([tokens.length])
    expect(report.attempts).toEqual({ used: 2, leftOut: { unscored: 1, faulted: 1 } })
  })

  test('are datums with weights for cross entropy', async () => {
    const { rows } = await rowsOf<TinkerRow>(await groupRun(played()), {
      form: 'tinker',
      loss: 'cross_entropy',
      filter: { kind: 'success' },
    })
    expect(rows).toHaveLength(1)
    const { lineage, datum } = rows[0]!
    expect(lineage).toMatchObject({ loss: 'cross_entropy', baseline: null })
    expect(Object.keys(datum.loss_fn_inputs)).toEqual(['target_tokens', 'weights'])
    const weights = (datum.loss_fn_inputs as { weights: { data: number[] } }).weights.data
    expect(weights.reduce((total, weight) => total + weight)).toBe('Hm'.length + 1 + '2'.length + 1)
  })

  test('are rollouts of TRL: one flat completion with what the environment wrote masked', async () => {
    const { rows } = await rowsOf<TrlRow>(await groupRun(played()), { form: 'trl' })
    const [first] = rows as [TrlRow]
    const { asked } = played()[0]!.talk
    const whole = [...asked[1]!.prompt, ...asked[1]!.output]
    expect([first.prompt_ids, first.completion_ids]).toEqual([
      asked[0]!.prompt,
      whole.slice(asked[0]!.prompt.length),
    ])
    const written = whole.length - asked[0]!.prompt.length
    expect([first.logprobs.length, first.env_mask.length]).toEqual([written, written])
    const between = asked[1]!.prompt.length - asked[0]!.prompt.length - asked[0]!.output.length
    expect(first.env_mask.join('')).toBe(`${'1'.repeat(3)}${'0'.repeat(between)}${'1'.repeat(2)}`)
    expect(first).toMatchObject({ reward: 1, prompt: [{ role: 'user', content: '1 + 1?' }] })
  })

  test('of what TRL has no place for are left out: several rows, and calls whose tokens nobody knows', async () => {
    const edited = twoTurns()
    edited.ask([user('something else')], 'A long answer that begins anew.')
    const bare = new Talk()
    bare.ask([sum], '2', { withoutIds: true })
    const dir = await groupRun([
      { task: 'a', talk: twoTurns() },
      { task: 'a', talk: edited },
      { task: 'a', talk: bare },
    ])
    const { rows, report } = await rowsOf<TrlRow>(dir, { form: 'trl' })
    expect(rows).toHaveLength(1)
    expect(report.attempts.leftOut).toEqual({ broken_up: 1, no_tokens: 1 })
    await expect(rowsOf(await groupRun([{ task: 'a', talk: bare }]), { form: 'trl' })).rejects.toMatchObject({
      code: 'no_sampled_tokens',
    })
  })

  test('are groups of ART: choices with the ids that were sampled, and exceptions for what has no reward', async () => {
    const bare = new Talk()
    bare.ask([sum], '6', { withoutIds: true })
    const dir = await groupRun([...played(), { task: 'a', talk: bare, reward: 0 }])
    const { rows } = await rowsOf<ArtGroup>(dir, { form: 'art' })
    expect(rows).toHaveLength(1)
    const [{ trajectories, exceptions, metrics }] = rows as [ArtGroup]
    expect(trajectories.map(({ reward }) => reward)).toEqual([1, 0.5, 0])
    const [question, choice] = trajectories[0]!.messages_and_choices
    expect(question).toEqual({ role: 'user', content: '1 + 1?' })
    const { output, logprobs } = played()[0]!.talk.asked[0]!
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: 'Hm' } })
    const { content } = (choice as { logprobs: { content: { token: string; logprob: number }[] } }).logprobs
    expect(content.map(({ token }) => token)).toEqual(output.map((id) => `token_id:${id}`))
    expect(content.map(({ logprob }) => Math.fround(logprob))).toEqual(
      logprobs.map((value) => Math.fround(value) + 0),
    )
    expect(trajectories[2]!.messages_and_choices[1]).toMatchObject({ logprobs: null })
    expect(trajectories[0]!.metrics).toEqual({ solved: 1, success: true })
    expect(exceptions).toEqual([
      { type: 'unscored.no_answer', message: 'solved gave no reward', traceback: '' },
      { type: 'world.broke', message: 'It broke.', traceback: '' },
    ])
    expect(metrics).toEqual({ ordered: 5, trajectories: 3, without_reward: 2 })
  })

  test('of another policy are another group', async () => {
    const one = await groupRun(played())
    const other = await groupRun(played(), (manifest) => {
      manifest.seats['agent']!.policy = 'better'
    })
    const { rows } = await rowsOf<TinkerRow>([one, other], { form: 'tinker' })
    expect(new Set(rows.map(({ lineage }) => lineage.group)).size).toBe(2)
    await expect(rowsOf([one, one], { form: 'tinker' })).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('whatever the form', () => {
  test('no secret leaves, and nothing private is read', async () => {
    const dir = await groupRun(mixed)
    const path = join(dir, runFiles.private)
    expect(await readFile(path, 'utf8')).toContain(gold)
    for (const form of forms) expect(JSON.stringify(await rowsOf(dir, { form }))).not.toContain(gold)
    await writeFile(path, Buffer.alloc((await stat(path)).size, 'x'))
    for (const form of forms) expect((await rowsOf(dir, { form })).rows.length).toBeGreaterThan(0)
  })

  test('pictures, cut records and damage are left out, and the others are there', async () => {
    const seen = new Talk()
    const picture = { type: 'image' as const, mediaType: 'image/png', sha256: 'f'.repeat(64) }
    seen.ask([{ role: 'user', content: [picture] }], 'a cat')
    const dir = await groupRun([
      { task: 'a', talk: seen },
      { task: 'a', talk: said('2') },
      { task: 'a', talk: said('3'), cut: true },
      { task: 'a', talk: said('4'), reward: 0.5 },
    ])
    const { rows, report } = await rowsOf<SftRow>(dir, { form: 'sft', filter: { kind: 'all' } })
    expect(rows.map(({ lineage: { order } }) => order)).toEqual(['a#1', 'a#3'])
    expect(report.attempts.leftOut).toEqual({ images: 1, record_cut: 1 })
    const text = await readFile(join(dir, runFiles.trajectories))
    text[text.indexOf('"2"') + 1] = 0x39
    await writeFile(join(dir, runFiles.trajectories), text)
    const left = (await rowsOf<SftRow>(dir, { form: 'sft', filter: { kind: 'all' } })).report.attempts.leftOut
    expect(left).toEqual({ images: 1, record_cut: 1, damaged: 1 })
  })

  test('what does not go together is refused before anything is read', async () => {
    const slips: Omit<Parameters<typeof exportRows>[1], 'onRow'>[] = [
      { form: 'art', filter: { kind: 'success' } },
      { form: 'trl', bestOfN: 2 },
      { form: 'tinker', bestOfN: 2 },
      { form: 'sft', margin: 1 },
      { form: 'preference', margin: -1 },
      { form: 'sft', loss: 'cross_entropy' },
      { form: 'sft', maxLength: 9 },
    ]
    for (const slip of slips)
      await expect(exportRows(['no run'], slip)).rejects.toMatchObject({ code: 'usage' })
    const silent = await groupRun(mixed, (manifest) => {
      manifest.environment.success = false
    })
    await expect(exportRows([silent], { form: 'sft' })).rejects.toThrow(/--filter all/)
    const failed = await groupRun(mixed.slice(1))
    await expect(rowsOf(failed, { form: 'sft' })).rejects.toMatchObject({
      code: 'export_refused',
      message: expect.stringContaining('filtered 2'),
    })
  })
})
