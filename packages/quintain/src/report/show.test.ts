import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { foldRun, type MessageNode } from '../core/index.ts'
import { pickOrders } from './pick.ts'
import { writeSampleRun } from './sample-run.ts'
import { formatAttempt, formatCall, readAttempt } from './show.ts'

let root: string
let dir: string
const node = (
  parent: number,
  message: MessageNode['message'],
  extra: Partial<MessageNode> = {},
): MessageNode => ({
  parent,
  seat: 'agent',
  message,
  sampled: message.role === 'assistant',
  ...extra,
})

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-show-'))
  dir = join(root, 'run')
  await writeSampleRun(dir, {
    orders: [
      {
        task: 'talk',
        attempts: [
          {
            reward: 1,
            outcome: 'env_done',
            stop: 'won',
            nodes: [
              node(-1, { role: 'system', content: 'Be kind.' }),
              node(0, { role: 'user', content: 'Find it.' }),
              node(1, {
                role: 'assistant',
                content: 'Looking \u001b[2J now',
                reasoning: 'hmm',
                toolCalls: [
                  { id: 'c1', name: 'search', arguments: '{"q":"it"}' },
                  { id: 'c2', name: 'search', arguments: '{"q":' },
                ],
              }),
              node(2, { role: 'tool', toolCallId: 'c1', name: 'search', content: 'found' }, { reward: 0.25 }),
              node(3, { role: 'tool', toolCallId: 'c2', name: 'search', content: 'bad', error: 'malformed' }),
            ],
            calls: [
              {
                seat: 'agent',
                prompt: 1,
                output: 2,
                model: 'm-1',
                atMs: 0,
                latencyMs: 1500,
                waitMs: 0,
                usage: { fresh: 100, cacheRead: 20, cacheWrite: 0, output: 7 },
                finish: 'tool_calls',
              },
            ],
            private: { secret: { word: 'gold-4711' }, state: { done: true } },
          },
        ],
      },
      {
        task: 'broke',
        attempts: [
          {
            outcome: null,
            fault: { owner: 'world', stage: 'reply', code: 'threw', message: 'it broke', retryable: false },
            nodes: [node(-1, { role: 'user', content: 'Half a talk' })],
          },
        ],
      },
      { task: 'low', attempts: [{ reward: 0 }] },
      { task: 'low', attempts: [{ reward: 0.5 }] },
      { task: 'quiet', attempts: [{ unscored: 'no_answer' }] },
      { task: 'later', attempts: [] },
    ],
  })
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function shown(name: string, options: { withPrivate?: boolean } = {}) {
  const fold = await foldRun(dir)
  return formatAttempt(await readAttempt(dir, pickOrders(fold, { name })[0]!, options))
}

describe('an agent outside', () => {
  const text = (content: string) => ({ role: 'assistant' as const, content })
  const call = (prompt: number, output: number, more: object = {}) => ({
    seat: 'agent',
    prompt,
    output,
    model: 'm-1',
    atMs: 0,
    latencyMs: 1500,
    waitMs: 0,
    ...more,
  })
  const fault = {
    owner: 'provider',
    stage: 'model',
    code: 'bad_request',
    message: 'no',
    retryable: false,
  } as const
  const read = async () => {
    const where = join(await mkdtemp(join(root, 'outside-')), 'run')
    await writeSampleRun(where, {
      orders: [
        {
          task: 'a',
          attempts: [
            {
              reward: 1,
              leaves: { agent: 1 },
              nodes: [
                node(-1, { role: 'user', content: 'Find it.' }),
                node(0, text('Found.'), { sampled: false }),
                node(0, { ...text(''), toolCalls: [{ id: 'c', name: 'look', arguments: '{}' }] }),
                node(2, { role: 'tool', toolCallId: 'c', content: 'there' }),
                node(3, text('Found.')),
                node(-1, { role: 'user', content: 'A title \u001b[2J, please.' }),
                node(5, text('A search')),
              ],
              calls: [
                call(0, 2, { finish: 'tool_calls' }),
                call(5, 6),
                call(3, 4, { sampling: { temperature: 1 } }),
                call(3, -1, { fault }),
              ],
            },
          ],
        },
      ],
    })
    const [state] = (await foldRun(where)).states
    return readAttempt(where, state!)
  }

  test('reads as what was said in the world, then what its model was asked, nothing twice', async () => {
    const shown = formatAttempt(await read())
    const [said, asked] = shown.split('What its model was asked: 4 calls')
    expect(said?.match(/Found\./g)).toHaveLength(1)
    expect(said).not.toContain('A title')
    expect(asked).toMatch(/call 0 .*finish tool_calls · begins with 1 message: "Find it\."\n {4}-> look\n/)
    expect(asked).toMatch(/call 1 .*begins with 1 message: "A title \\x1b\[2J, please\."\n {4}"A search"/)
    expect(asked).toMatch(/call 2 .*goes on from call 0\n {4}"Found\."/)
    expect(asked).toMatch(/call 3 .*goes on from call 0\n {4}bad_request: no/)
    expect(shown.indexOf('outcome')).toBeGreaterThan(shown.indexOf('call 3'))
  })

  test('shows one of its calls with its messages', async () => {
    const parts = await read()
    const shown = formatCall(parts, 2)
    expect(shown).toMatch(/^call 2 of agent\n {2}of attempt .* at a#0\n {2}m-1\n/)
    expect(shown).toMatch(/Find it\.[\s\S]*-> look[\s\S]*there[\s\S]*\[4\] assistant\n {4}Found\./)
    expect(shown).toContain('{"temperature":1}')
    expect(shown).not.toContain('title')
    expect(formatCall(parts, 3)).toContain('bad_request: no')
    expect(() => formatCall(parts, 4)).toThrow('they are 0 to 3')
  })
})

describe('formatAttempt', () => {
  test('reads as a conversation: roles, calls with arguments, results, rewards, the end', async () => {
    const text = await shown('talk')
    expect(text).toContain('talk#0  scored')
    expect(text).toMatch(/\[2\] assistant {2}m-1 · 1.5 s · 120 in, 7 out · finish tool_calls/)
    expect(text).toContain('(reasoning) hmm')
    expect(text).toContain('-> search {"q":"it"}')
    expect(text).toContain('-> search {"q":  (not JSON)')
    expect(text).toContain('<- search  error malformed')
    expect(text).toContain('reward 0.250')
    expect(text).toContain('outcome  env_done (won)')
    expect(text).toContain('verdict  reward 1.000, success')
  })

  test('rewards have their weight, those of the group too; an unknown price is said to be one', async () => {
    const grouped = join(root, 'grouped')
    await writeSampleRun(grouped, {
      environment: {
        rewards: { solved: { kind: 'reward', weight: 1 }, rank: { kind: 'group', weight: 0.5 } },
        metrics: ['steps'],
      },
      orders: [
        {
          task: 'a',
          attempts: [
            {
              reward: 1,
              metrics: { steps: 3 },
              nodes: [node(-1, { role: 'assistant', content: 'Done.' })],
              calls: [
                {
                  seat: 'agent',
                  prompt: -1,
                  output: 0,
                  model: 'm',
                  atMs: 0,
                  latencyMs: 1,
                  waitMs: 0,
                  costUsd: null,
                },
              ],
            },
          ],
        },
      ],
    })
    const [state] = (await foldRun(grouped)).states
    // As after the group was graded: the attempt's summary has the value, the verdict recorded with it has not.
    state!.chosen!.verdict!.rewards['rank'] = 0.25
    const text = formatAttempt(await readAttempt(grouped, state!))
    expect(text).toContain('solved 1.000  (weight 1)')
    expect(text).toContain('rank 0.250  (weight 0.5, of the group)')
    expect(text).toContain('steps 3.000  (metric)')
    expect(text).toContain('cost unknown')
  })

  test('text of models is inert', async () => {
    expect(await shown('talk')).toContain('Looking \\x1b[2J now')
    expect(await shown('talk')).not.toContain('\u001b')
  })

  test('the secret is shown only when it is asked for', async () => {
    expect(await shown('talk')).not.toContain('gold-4711')
    const text = await shown('talk', { withPrivate: true })
    expect(text).toContain('gold-4711')
    expect(text).toContain('private: not to be published')
  })

  test('failed, ungraded and unstarted orders open', async () => {
    const broken = await shown('broke')
    expect(broken).toContain('Half a talk')
    expect(broken).toContain('world, reply: threw')
    expect(broken).toContain('verdict  none: it was not graded')
    expect(await shown('quiet')).toContain('unscored by solved: no_answer')
    expect(await shown('later')).toContain('No attempt was recorded')
  })

  test('a damaged trajectory is told, and the rest still shown', async () => {
    const damaged = join(root, 'damaged')
    await writeSampleRun(damaged, { orders: [{ task: 'a', attempts: [{ reward: 1 }] }] })
    const fold = await foldRun(damaged)
    const file = join(damaged, 'trajectories.jsonl')
    await truncate(file, 0)
    await writeFile(file, 'x'.repeat(100_000))
    const text = formatAttempt(await readAttempt(damaged, fold.states[0]!))
    expect(text).toContain('are not what was written there')
    expect(text).toContain('verdict  reward 1.000')
  })
})

describe('pickOrders', () => {
  const ids = async (pick: Parameters<typeof pickOrders>[1]) =>
    pickOrders(await foldRun(dir), pick).map(({ order }) => order.id)

  test('by task, by order, by how bad', async () => {
    expect(await ids({ name: 'low' })).toEqual(['low#0', 'low#1'])
    expect(await ids({ name: 'low#1' })).toEqual(['low#1'])
    expect(await ids({ failed: true })).toEqual(['broke#0', 'quiet#0', 'low#0', 'low#1'])
    expect(await ids({ worst: true })).toEqual(['low#0', 'low#1', 'talk#0', 'broke#0', 'quiet#0'])
    expect(await ids({ worst: true, failed: true })).toEqual(['low#0', 'low#1', 'broke#0', 'quiet#0'])
  })

  test('a misspelt task gets a suggestion', async () => {
    await expect(ids({ name: 'talkk' })).rejects.toMatchObject({
      code: 'unknown_task',
      message: expect.stringContaining('did you mean "talk"'),
    })
  })
})
