// Real recordings that nobody here wrote: 200 conversations of a tool-calling agent, 50 tasks x 4 trials, with the rewards
// that tau-bench gave them. As a run, and as the seed of an environment. They are not in the repository; QUINTAIN_DATA, or
// ../shared/data beside the checkout, says where they lie.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../packages/quintain/src/cli/run-cli.ts'
import { type AttemptRecord, foldRun, readPrivate, runFiles } from '../../packages/quintain/src/core/index.ts'
import { importRun } from '../../packages/quintain/src/doors/index.ts'
import { summarize } from '../../packages/quintain/src/report/index.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))
const data = process.env['QUINTAIN_DATA'] ?? join(repository, '../shared/data')
const file = join(data, 'tau-bench/gpt-4o-airline.json')

if (!existsSync(file))
  test.skip(
    `tau-bench (not run: there is no ${join('tau-bench', 'gpt-4o-airline.json')} in QUINTAIN_DATA or ../shared/data)`,
  )

describe.runIf(existsSync(file))('200 recorded conversations of tau-bench', () => {
  let root: string
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-tau-')))
    await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  const quintain = async (argv: string[], cwd: string) => {
    let out = ''
    const code = await runCli(argv, {
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => {} },
      env: {},
      cwd,
    })
    return { code, out }
  }

  test('as a run, they give the figures that tau-bench published', async () => {
    const out = join(root, 'run')
    expect(await importRun(file, { as: 'tau-bench', out })).toMatchObject({
      orders: 200,
      tasks: 50,
      warnings: [],
    })
    const { tries, success, again, coverage, outcomes } = await summarize(out)
    // pass^1 to pass^4 of TC (gpt-4o) on airline, in tau-bench's README.
    expect(tries?.passHatK.map(({ value }) => value.toFixed(3))).toEqual(['0.420', '0.273', '0.220', '0.200'])
    expect([coverage, success.value]).toEqual([1, 0.42])
    expect(outcomes).toEqual({ env_done: 195, turn_limit: 5 })
    // Clustered by task: wider than 200 independent trials would have it, and than these tasks again.
    const width = ([low, high]: readonly [number, number]) => high - low
    expect(width(success.interval)).toBeGreaterThan(2 * 1.96 * Math.sqrt((0.42 * 0.58) / 200))
    expect(width(success.interval)).toBeGreaterThan(width(again.success.interval))
    expect([tries?.always, tries?.sometimes, tries?.never]).toEqual([10, 26, 14])

    // The same once more from the file, by counting: C(c, k) / C(4, k) and 1 - C(4 - c, k) / C(4, k).
    const choose = (n: number, k: number): number =>
      k === 0 ? 1 : n < k ? 0 : (choose(n - 1, k - 1) * n) / k
    const counts = new Map<number, number>()
    for (const { task_id, reward } of JSON.parse(readFileSync(file, 'utf8')) as {
      task_id: number
      reward: number
    }[]) {
      counts.set(task_id, (counts.get(task_id) ?? 0) + reward)
    }
    const mean = (of: (c: number) => number) =>
      [...counts.values()].reduce((sum, c) => sum + of(c), 0) / counts.size
    for (const k of [1, 2, 3, 4]) {
      expect(tries?.passHatK[k - 1]?.value).toBeCloseTo(
        mean((c) => choose(c, k) / choose(4, k)),
        12,
      )
      expect(tries?.passAtK[k - 1]?.value).toBeCloseTo(
        mean((c) => 1 - choose(4 - c, k) / choose(4, k)),
        12,
      )
    }
  })

  test('no gold is in what may be published', async () => {
    const out = join(root, 'run')
    const results = JSON.parse(readFileSync(file, 'utf8')) as { info: { task: { instruction: string } } }[]
    const published = await Promise.all(
      (await readdir(out))
        .filter((name) => name !== 'private')
        .map((name) => readFile(join(out, name), 'utf8')),
    )
    for (const { info } of results)
      expect(published.some((text) => text.includes(info.task.instruction))).toBe(false)
    expect(await readFile(join(out, runFiles.private), 'utf8')).toContain(
      JSON.stringify(results[0]!.info.task.instruction),
    )
  })

  test('as the seed of an environment: 50 tasks, every recording plays again, and decisions agree with the rewards', async () => {
    const made = await quintain(['init', 'airline', '--from', file], root)
    expect(made.code, made.out).toBe(0)
    expect(made.out).toContain('50 tasks of 200 conversations')
    const dir = join(root, 'airline')
    const recorded = ['eval', '.', '--policy', 'recorded:recordings.jsonl', '-r', '4', '--quiet']
    const open = await quintain([...recorded, '--out', 'open'], dir)
    expect(open.out).toContain('done: to_decide 200')

    // As docs/thirty-real-tasks.md says: the file's own gold in the place of the person's decisions.
    const path = join(dir, 'src/decisions.ts')
    const text = await readFile(path, 'utf8')
    const [above] = text.split(/^export const decisions/m)
    await writeFile(path, `${above}export const decisions: Record<string, Decision | null> = proposals\n`)
    const decided = await quintain([...recorded, '--out', 'decided'], dir)
    // 19 of the 50 ask for nothing: doing nothing would pass them, and that is said and not scored.
    expect(decided.out).toContain('done: nothing_to_check 76')
    // How the recordings ended and what failed in them is as it was.
    expect(decided.out).toMatch(/outcomes +env_done 195, turn_limit 5\n/)
    expect(decided.out).toContain('(errors: original_error 73)')
    const { states } = await foldRun<AttemptRecord>(join(dir, 'decided'))
    const agrees = states.flatMap(({ chosen }) => chosen?.verdict?.metrics['agrees_with_recorded'] ?? [])
    expect(agrees).toHaveLength(124)
    // Two were cut by the step limit when all was done; one call was spelt with fields that the gold has not.
    expect(agrees.filter((one) => one === 0)).toHaveLength(3)
    for (const { order, chosen } of states) {
      const hidden = await readPrivate(join(dir, 'decided'), chosen!)
      expect(hidden?.state, order.id).toMatchObject({ followed: order.repeat, notRecorded: 0 })
    }
  })
})
