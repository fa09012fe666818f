import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runFiles } from '../core/index.ts'
import { type Recorded, temporaryFolder, writeRun } from './__fixtures__/run.ts'
import { says, system, Talk, user } from './__fixtures__/talk.ts'
import { type ChatRow, type RunRowsOptions, runRows, type TokenRow } from './index.ts'

const go = user('go')
function talk(...answers: string[]): Talk {
  const made = new Talk()
  const history = [go]
  for (const answer of answers) history.push(made.ask(history, answer), user('on'))
  return made
}

async function run(attempts: readonly (Recorded | undefined)[]): Promise<string> {
  const dir = join(temporaryFolder(), 'run')
  await writeRun(dir, attempts)
  return dir
}

async function rowsOf(dir: string, options: RunRowsOptions = {}) {
  const rows: (TokenRow | ChatRow)[] = []
  const report = await runRows(dir, { ...options, onRow: (row) => void rows.push(row) })
  return { rows, report }
}

test('rows of a run have the reward of their attempt, and the report adds them up', async () => {
  const edited = talk('a', 'b')
  edited.ask([go, says('shorter'), user('on')], 'c')
  const { rows, report } = await rowsOf(
    await run([
      { talk: talk('a', 'b'), reward: 1 },
      { talk: edited, reward: 0 },
    ]),
  )
  expect(rows.map(({ attempt, row, reward, weight }) => [attempt, row, reward, weight])).toEqual([
    ['attempt-0', 0, 1, 1],
    ['attempt-1', 0, 0, 4 / 6],
    ['attempt-1', 1, 0, 2 / 6],
  ])
  expect(report).toMatchObject({
    schema: 'quintain.rows-report',
    v: 1,
    run: { id: 'run-1', environment: 'sample', policy: 'script:sample' },
    seat: 'agent',
    attempts: { withRows: 2, withoutRows: 0, leftOut: {} },
    calls: { kept: 3, branch: 2, side: 0, dead: 0, failed: 0 },
    rows: { sampled: 1, 'prefix-merged': 2, 'text-only': 0 },
    tokens: { sampled: 10 },
    breaks: {
      history_edited: {
        count: 1,
        examples: [{ attempt: 'attempt-1', order: 'task-1#0', call: 2, after: 1 }],
      },
    },
    refused: {},
    issues: [],
  })
})

describe('what gives no rows is counted by why', () => {
  const attempts: (Recorded | undefined)[] = [
    { talk: talk('a'), reward: 1 },
    { talk: talk('a'), reward: 0.25 },
    { talk: talk('a'), reward: null },
    { talk: talk('a'), fault: 'provider' },
    { talk: talk('a'), fault: 'grader' },
    { talk: talk('a'), cancelled: true },
    undefined,
  ]

  test('rows of tokens need a reward', async () => {
    const { rows, report } = await rowsOf(await run(attempts))
    expect(rows.map(({ attempt }) => attempt)).toEqual(['attempt-0', 'attempt-1'])
    expect(report.attempts).toEqual({
      withRows: 2,
      withoutRows: 0,
      leftOut: { unscored: 1, faulted: 2, cancelled: 1, pending: 1 },
    })
  })

  test('rows of text are kept where only the grading failed', async () => {
    const { rows, report } = await rowsOf(await run(attempts), { textOnly: true })
    expect(rows.map(({ attempt, reward }) => [attempt, reward])).toEqual([
      ['attempt-0', 1],
      ['attempt-1', 0.25],
      ['attempt-2', null],
      ['attempt-4', null],
    ])
    expect(report.attempts.leftOut).toEqual({ faulted: 1, cancelled: 1, pending: 1 })
  })

  test('a least reward leaves out what has less, and what has none', async () => {
    const { rows, report } = await rowsOf(await run(attempts), { textOnly: true, minReward: 0.5 })
    expect(rows.map(({ attempt }) => attempt)).toEqual(['attempt-0'])
    expect(report.attempts.leftOut).toEqual({
      below_min_reward: 1,
      unscored: 1,
      faulted: 2,
      cancelled: 1,
      pending: 1,
    })
  })
})

test('an attempt whose texts were cut for its record gives rows of tokens, which are whole, and none of text', async () => {
  const dir = await run([{ talk: talk('a'), flags: { record_cut: 1 } }, { talk: talk('b') }])
  expect((await rowsOf(dir)).rows).toHaveLength(2)
  const { rows, report } = await rowsOf(dir, { textOnly: true })
  expect(rows.map(({ attempt }) => attempt)).toEqual(['attempt-1'])
  expect(report.attempts.leftOut).toEqual({ record_cut: 1 })
})

test('an attempt that is damaged on disk does not hide the others', async () => {
  const dir = await run([{ talk: talk('a') }, { talk: talk('b') }])
  const path = join(dir, runFiles.tokens)
  const bytes = await readFile(path)
  bytes[0]! ^= 1
  await writeFile(path, bytes)
  const { rows, report } = await rowsOf(dir)
  expect(rows.map(({ attempt }) => attempt)).toEqual(['attempt-1'])
  expect(report.attempts.leftOut).toEqual({ damaged: 1 })
})

describe('rows that are asked for where there are none are an error that says what to do', () => {
  const refusal = async (made: Talk, options: RunRowsOptions = {}) => {
    const dir = await run([{ talk: made }])
    // A report alone can be had.
    expect((await runRows(dir, options)).attempts).toMatchObject({ withRows: 0 })
    return rowsOf(dir, options).then(
      () => 'no error',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    )
  }

  test('without ids, or without log-probabilities', async () => {
    const bare = new Talk()
    bare.ask([go], 'a', { withoutIds: true })
    expect(await refusal(bare)).toMatch(/^no_sampled_tokens: .*ids and logprobs.*no_token_ids 1.*text only/)
    const unlikely = new Talk()
    unlikely.ask([go], 'a', { logprobs: undefined })
    expect(await refusal(unlikely)).toMatch(/^no_sampled_tokens: .*no_logprobs 1/)
  })

  test('where nobody sampled what was said', async () => {
    const told = new Talk()
    told.recorder.path('agent', [go, says('a')])
    for (const textOnly of [false, true])
      expect(await refusal(told, { textOnly })).toMatch(/^no_sampled_tokens: .*was sampled by a model/)
  })

  test('where everything was cut away, or is of other classes', async () => {
    expect(await refusal(talk('a'), { maxLength: 2 })).toMatch(/cut_away 1/)
    const titled = new Talk()
    titled.ask([system('Write a title.'), go], 'T')
    const a = titled.ask([go], 'a')
    titled.ask([go, a, user('on')], 'b')
    expect(await refusal(titled, { classes: ['failed'] })).toMatch(
      /no call of these attempts is one to train on/,
    )
  })
})

test('nothing private is read', async () => {
  const dir = await run([{ talk: talk('a') }])
  const path = join(dir, runFiles.private)
  await writeFile(path, Buffer.alloc((await stat(path)).size, 'x'))
  expect((await rowsOf(dir)).rows).toHaveLength(1)
})
