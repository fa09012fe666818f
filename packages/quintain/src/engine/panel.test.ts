import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environment, foldRun, type Model, ModelFault, readManifest, readPanel } from '../core/index.ts'
import { outside } from './__fixtures__/outside.ts'
import { modelThat, say, temporaryFolder } from './__fixtures__/recorded.ts'
import { type PanelOptions, resumePanel, startPanel } from './panel.ts'
import type { Progress } from './progress.ts'
import { startRun } from './run.ts'

const env = environment({
  tasks: Array.from({ length: 8 }, (_, at) => ({ id: `t${at}`, prompt: 'go' })),
  rewards: { any: () => 1 },
  success: () => true,
})

/** Models that write their names down in the order in which they are called. */
function models(names: readonly string[], reply: Parameters<typeof modelThat>[0] = () => 'ok') {
  const calls: string[] = []
  const made = names.map(
    (name): Model =>
      modelThat((...args) => {
        calls.push(name)
        return reply(...args)
      }, name),
  )
  return { calls, players: made.map((model) => ({ model })) }
}

async function panel(options: Partial<PanelOptions> & Pick<PanelOptions, 'players'>) {
  return startPanel({ env, dir: join(await temporaryFolder(), 'panel'), ...options } as PanelOptions)
}

const statuses = async (dir: string) => (await foldRun(dir)).states.map(({ status }) => status)

describe('several players of one plan', () => {
  test('take turns order by order, the first of them moving on', async () => {
    const { calls, players } = models(['a', 'b', 'c'])
    const { dir, runs } = await panel({ players, concurrency: 1, tasks: 4 })
    expect(calls.join('')).toBe('abcbcacababc')
    expect(runs.map((run) => run.dir)).toEqual(['a', 'b', 'c'].map((name) => join(dir, name)))
    expect(await readPanel(dir)).toMatchObject({ schema: 'quintain.panel', runs: ['a', 'b', 'c'] })
    for (const run of runs) expect(await statuses(run.dir)).toEqual(Array.from({ length: 4 }, () => 'scored'))
  })

  test('share one concurrency', async () => {
    let running = 0
    let most = 0
    const { players } = models(['a', 'b'], async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 2))
      running--
      return 'ok'
    })
    await panel({ players, concurrency: 3, repeats: 2 })
    expect(most).toBe(3)
  })

  test('one whose provider is down stops, and the others go on', async () => {
    const up = modelThat(() => 'ok', 'up')
    const down = modelThat(() => {
      throw new ModelFault({
        owner: 'provider',
        stage: 'model',
        code: 'http_401',
        message: 'no',
        retryable: false,
      })
    }, 'down')
    const { runs } = await panel({ players: [{ model: up }, { model: down }], repeats: 6, concurrency: 4 })
    expect(runs.map(({ stop }) => stop?.code)).toEqual([undefined, 'only_faults'])
    expect(new Set(await statuses(runs[0]!.dir))).toEqual(new Set(['scored']))
  })

  test('who waits for a retry does not hold up the end of the others', async () => {
    const flaky = modelThat((_request, _context, call) => {
      if (call === 0)
        throw new ModelFault({
          owner: 'provider',
          stage: 'model',
          code: 'http_500',
          message: 'no',
          retryable: true,
        })
      return 'ok'
    }, 'flaky')
    const { calls, players } = models(['steady'])
    const { runs } = await panel({ players: [{ model: flaky }, ...players], concurrency: 1, tasks: 3 })
    expect(calls).toHaveLength(3)
    expect(await statuses(runs[0]!.dir)).toEqual(['scored', 'scored', 'scored'])
  })

  test('the progress is of all together', async () => {
    const seen: Progress[] = []
    const { players } = models(['a', 'b'])
    await panel({ players, onProgress: (progress) => seen.push(progress) })
    expect(seen.at(-1)).toMatchObject({ orders: 16, done: 16, scored: 16, successes: 16, meanReward: 1 })
  })

  test('one model twice is two runs', async () => {
    const { players } = models(['a'])
    const { dir } = await panel({ players: [players[0]!, players[0]!], tasks: 1 })
    expect((await readPanel(dir))?.runs).toEqual(['a', 'a-2'])
  })

  test('agents with one policy behind them have folders of their own names', async () => {
    const harness = (name: string) => outside(async () => ({ outcome: 'completed' }), { name })
    const [behind] = models(['vendor/big-1.5']).players
    const { dir } = await panel({
      players: [
        { agent: harness('command:agent@1'), behind: behind! },
        { agent: harness('remote:host:80@1'), behind: { policy: 'script:noop' } },
        { agent: () => 'x', name: 'before' },
        ...(behind === undefined ? [] : [behind]),
      ],
      tasks: 1,
    })
    expect((await readPanel(dir))?.runs).toEqual(['agent-big-1.5', 'host-80-noop', 'before', 'big-1.5'])
  })

  test('agents are named in the records as they were named', async () => {
    const { runs } = await panel({
      players: [
        { agent: () => 'x', name: 'before' },
        { agent: () => 'y', name: 'after' },
      ],
      tasks: 1,
    })
    expect(runs.map(({ manifest }) => manifest.seats['agent']?.policy)).toEqual([
      expect.stringContaining('before'),
      expect.stringContaining('after'),
    ])
  })
})

describe('a cost cap', () => {
  const dear = () => ({ message: say('ok'), costUsd: 1 })

  test('is for all together, in this sitting and in the next', async () => {
    const { calls, players } = models(['a', 'b'], dear)
    const first = await panel({ players, concurrency: 1, maxCostUsd: 5 })
    expect(first.runs.map(({ stop }) => stop?.code)).toEqual(['spend_cap', 'spend_cap'])
    expect(calls).toHaveLength(5)
    const playersOf = async (_manifest: unknown, place: number) => ({ agent: players[place]! })
    // Nothing is left of what the panel may spend.
    await resumePanel({ dir: first.dir, env, playersOf })
    expect(calls).toHaveLength(5)
    const end = await resumePanel({ dir: first.dir, env, playersOf, maxCostUsd: 100, concurrency: 1 })
    expect(end.runs.map(({ stop }) => stop)).toEqual([undefined, undefined])
    expect(calls).toHaveLength(16)
    for (const run of end.runs) expect(new Set(await statuses(run.dir))).toEqual(new Set(['scored']))
  })
})

describe('a panel that is stopped', () => {
  test('by a signal, is finished by one resume, still in turns', async () => {
    const controller = new AbortController()
    const { calls, players } = models(['a', 'b', 'c'], () => {
      if (calls.length === 7) controller.abort()
      return 'ok'
    })
    const first = await panel({ players, concurrency: 1, signal: controller.signal, tasks: 4 })
    expect(new Set(first.runs.map(({ stop }) => stop?.code))).toEqual(new Set(['cancelled']))
    const before = calls.length
    const end = await resumePanel({
      dir: first.dir,
      env,
      concurrency: 1,
      playersOf: async (_, place) => ({ agent: players[place]! }),
    })
    expect(calls.slice(0, before).join('') + calls.slice(before).join('')).toBe('abcbcacababc')
    expect(end.runs.map(({ stop }) => stop)).toEqual([undefined, undefined, undefined])
    for (const run of end.runs)
      expect(await statuses(run.dir)).toEqual(['scored', 'scored', 'scored', 'scored'])
  })

  test('by whoever watches it', async () => {
    const { calls, players } = models(['a', 'b'])
    const seen: string[] = []
    const { runs } = await panel({
      players,
      concurrency: 1,
      watch({ place, order, attempt }) {
        seen.push(`${place}/${order.id}/${attempt.verdict?.reward}`)
        return seen.length === 4 ? { code: 'decided', message: 'enough' } : undefined
      },
    })
    expect(seen).toEqual(['0/t0#0/1', '1/t0#0/1', '1/t1#0/1', '0/t1#0/1'])
    expect(calls).toHaveLength(4)
    expect(runs.map(({ stop }) => stop?.code)).toEqual(['decided', 'decided'])
    expect((await statuses(runs[0]!.dir)).slice(1)).toContain('pending')
  })
})

describe('nothing is left behind', () => {
  test('when one of the players does not exist', async () => {
    const dir = join(await temporaryFolder(), 'panel')
    const { calls, players } = models(['a'])
    await expect(
      startPanel({ env, dir, players: [...players, { policy: 'script:nobody' }] }),
    ).rejects.toMatchObject({
      code: 'policy_unknown',
    })
    expect(existsSync(dir)).toBe(false)
    expect(calls).toEqual([])
  })

  test('and a folder that holds a run, or runs, is not touched', async () => {
    const { players } = models(['a', 'b'])
    const dir = join(await temporaryFolder(), 'panel')
    await startRun({ env, dir, seats: { agent: players[0]! }, tasks: 1 })
    const before = await readdir(dir)
    await expect(startPanel({ env, dir, players })).rejects.toMatchObject({ code: 'run_exists' })
    expect(await readdir(dir)).toEqual(before)
    const { dir: other } = await panel({ players, tasks: 1 })
    await expect(startPanel({ env, dir: other, players })).rejects.toMatchObject({ code: 'run_exists' })
    expect((await readManifest(join(other, 'a'))).seats['agent']?.policy).toContain('a')
  })
})

test.each([
  ['no JSON', '{'],
  [
    'a name that leaves its folder',
    JSON.stringify({
      schema: 'quintain.panel',
      v: 1,
      id: 'x',
      created: '',
      quintain: '',
      runs: ['../secret'],
    }),
  ],
  [
    'no runs',
    JSON.stringify({ schema: 'quintain.panel', v: 1, id: 'x', created: '', quintain: '', runs: [] }),
  ],
])('a panel.json that is none (%s) is told as damaged', async (_name, text) => {
  const dir = await temporaryFolder()
  await writeFile(join(dir, 'panel.json'), text)
  await expect(readPanel(dir)).rejects.toMatchObject({ code: 'run_corrupt' })
})

test('a panel of a newer Quintain is refused, and a folder without one holds none', async () => {
  const dir = await temporaryFolder()
  expect(await readPanel(dir)).toBeUndefined()
  await writeFile(join(dir, 'panel.json'), JSON.stringify({ schema: 'quintain.panel', v: 2 }))
  await expect(readPanel(dir)).rejects.toMatchObject({ code: 'run_too_new' })
  await expect(resumePanel({ dir: await temporaryFolder() })).rejects.toMatchObject({ code: 'run_not_found' })
})
