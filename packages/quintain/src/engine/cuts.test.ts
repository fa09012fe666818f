import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AttemptRecord,
  environment,
  foldRun,
  Journal,
  readPrivate,
  readTokens,
  readTrajectory,
  readVerdict,
  recordsOf,
  runFiles,
  scanJsonlFile,
  type VerdictLine,
} from '../core/index.ts'
import { modelThat, say } from './__fixtures__/recorded.ts'
import { resumeRun, startRun } from './run.ts'

/*
 * The plan of a run survives any cut: a run with tokens, private records and later verdicts is cut at every byte of
 * the last three records of each of its files, read, and taken up again.
 */

const env = environment({
  tasks: [
    { id: 'a', prompt: '?', secret: { gold: 'q' } },
    { id: 'b', prompt: '?', secret: { gold: 'z' } },
  ],
  rewards: { own: ({ transcript }) => transcript.answer.length },
  groupRewards: {
    rank: { reward: ({ members }) => Object.fromEntries(members.map(({ id }, place) => [id, place])) },
  },
})
const answering = () =>
  modelThat((_request, { repeat = 0 }) => ({
    message: say('x'.repeat(repeat + 1)),
    tokens: {
      promptIds: Int32Array.of(1, 2),
      outputIds: Int32Array.of(repeat),
      logprobs: Float32Array.of(-0.5),
    },
  }))

/** In memory where there is such a place: the cuts are many. */
const root = mkdtempSync(
  join(statSync('/dev/shm', { throwIfNoEntry: false }) ? '/dev/shm' : tmpdir(), 'quintain-cuts-'),
)
afterAll(() => rmSync(root, { recursive: true, force: true }))
const original = join(root, 'original')

/** An attempt as the uncut run has it: where its line ends, and where its parts do. */
interface Known {
  record: AttemptRecord
  lineEnd: number
}
let known: Known[]
let verdicts: { line: VerdictLine; lineEnd: number }[]

beforeAll(async () => {
  const end = await startRun({ env, seats: { agent: { model: answering() } }, dir: original, repeats: 2 })
  expect(end.stop).toBeUndefined()
  const path = join(original, runFiles.attempts)
  known = []
  verdicts = []
  for await (const { value, offset, bytes } of recordsOf(path)) {
    const { schema } = value as { schema: string }
    const lineEnd = offset + bytes
    if (schema === 'quintain.attempt') known.push({ record: value as AttemptRecord, lineEnd })
    else verdicts.push({ line: value as VerdictLine, lineEnd })
  }
  expect(known).toHaveLength(4)
  expect(verdicts).toHaveLength(4)
})

const partFiles = {
  trajectory: runFiles.trajectories,
  verdict: runFiles.verdicts,
  private: runFiles.private,
  tokens: runFiles.tokens,
} as const

/** Attempts that are whole on disk when `file` is cut to `size`: their lines and all their parts lie before the cut. */
function wholeAfter(file: string, size: number): string[] {
  return known
    .filter(({ record, lineEnd }) => {
      if (file === runFiles.attempts) return lineEnd <= size
      return Object.entries(record.parts).every(
        ([name, part]) => partFiles[name as keyof typeof partFiles] !== file || part![0] + part![1] <= size,
      )
    })
    .map(({ record }) => record.id)
}

/** The same with what a new opening finds out: a line that lost only its LF is whole. */
function keptAfter(file: string, size: number): string[] {
  return file === runFiles.tokens || file === runFiles.attempts
    ? wholeAfter(file, size)
    : wholeAfter(file, size + 1)
}

function copyOf(name: string): string {
  const dir = join(root, name)
  rmSync(dir, { recursive: true, force: true })
  cpSync(original, dir, { recursive: true })
  return dir
}

function copyCut(file: string, size: number): string {
  const dir = copyOf('cut')
  truncateSync(join(dir, file), size)
  return dir
}

/** Reads what is there as a report does, and checks that nothing is there that was not written. */
async function checkReading(dir: string, file: string, size: number): Promise<void> {
  const { states } = await foldRun(dir)
  const whole = wholeAfter(file, size)
  const planned = new Set(states.map(({ order }) => order.id))
  const counted = states.flatMap(({ chosen }) => chosen?.id ?? [])
  expect(counted.sort()).toEqual(
    known
      .filter(({ record }) => whole.includes(record.id) && planned.has(record.order))
      .map(({ record }) => record.id)
      .sort(),
  )
  for (const { chosen, tries } of states) {
    expect(tries).toBeLessThanOrEqual(1)
    if (chosen === undefined) continue
    const before = known.find(({ record }) => record.id === chosen.id)!.record
    expect(chosen.parts).toEqual(before.parts)
    const reward = verdicts.find(({ line }) => line.attempt === chosen.id)!.line.verdict!.reward
    expect([null, reward]).toContain(chosen.verdict!.reward)
  }
}

async function readAll(dir: string, attempt: AttemptRecord): Promise<void> {
  expect((await readTrajectory(dir, attempt)).attempt).toBe(attempt.id)
  expect((await readVerdict(dir, attempt))?.attempt).toBe(attempt.id)
  expect((await readPrivate(dir, attempt))?.attempt).toBe(attempt.id)
  expect((await readTokens(dir, attempt))?.byteLength).toBe(4 * 4)
}

/** Opens the run as `resume` does, and checks that it is whole then and has kept what it could. */
async function checkOpening(dir: string, file: string, size: number): Promise<void> {
  const { journal, fold } = await Journal.open(dir)
  await journal.close()
  const planned = new Set(fold.states.map(({ order }) => order.id))
  const kept = keptAfter(file, size)
  expect(fold.states.flatMap(({ chosen }) => chosen?.id ?? []).sort()).toEqual(
    known
      .filter(({ record }) => kept.includes(record.id) && planned.has(record.order))
      .map(({ record }) => record.id)
      .sort(),
  )
  for (const name of Object.values(runFiles)) {
    if (!name.endsWith('.jsonl')) continue
    expect(readFileSync(join(dir, name)).at(-1) ?? 0x0a, name).toBe(0x0a)
  }
}

/** Takes the run up and checks that the plan is finished with one final attempt an order, the whole ones among them. */
async function checkResume(dir: string, file: string, size: number): Promise<void> {
  const end = await resumeRun({ dir, env, players: { agent: { model: answering() } }, workers: 1 })
  expect(end.stop).toBeUndefined()
  const { states, issues } = await foldRun(dir)
  expect(issues).toEqual([])
  expect(states.map(({ order }) => [order.id, order.seq])).toEqual([
    ['a#0', 0],
    ['a#1', 1],
    ['b#0', 2],
    ['b#1', 3],
  ])
  const kept = keptAfter(file, size)
  for (const { status, tries, chosen, order } of states) {
    expect([order.id, status, tries]).toEqual([order.id, 'scored', 1])
    expect(chosen!.final).toBe(true)
    const old = known.find(({ record }) => record.order === order.id)!.record.id
    expect(chosen!.id === old).toBe(kept.includes(old))
    await readAll(dir, chosen!)
  }
  // Every group has been ranked from its own members.
  for (const task of ['a', 'b']) {
    const ranks = states
      .filter(({ order }) => order.task === task)
      .map(({ chosen }) => chosen!.verdict!.rewards['rank'])
    expect(ranks.sort()).toEqual([0, 1])
  }
}

/** Where the last records of a file begin and end. */
async function boundaries(file: string): Promise<number[]> {
  if (file === runFiles.manifest) return [0]
  if (file === runFiles.tokens) return known.map(({ record }) => record.parts.tokens![0])
  const offsets: number[] = []
  for await (const { offset, bytes } of scanJsonlFile(join(original, file)))
    offsets.push(offset, offset + bytes)
  return offsets
}

/**
 * Every cut is read. Taking a run up costs ten times as much and comes out the same within a record, so it is done
 * beside every edge and at every so many bytes between; at all of them with `QUINTAIN_EVERY_CUT=1`.
 */
const everyCut = process.env['QUINTAIN_EVERY_CUT'] === '1'
const opensEvery = everyCut ? 1 : 13
const resumesEvery = everyCut ? 1 : 97

/** Where the last three records of a file begin. Of attempts.jsonl, three attempts and the later verdicts behind them. */
async function lastThree(file: string): Promise<number> {
  const path = join(original, file)
  if (file === runFiles.manifest) return 0
  if (file === runFiles.tokens) return known.at(-3)!.record.parts.tokens![0]
  const offsets: number[] = []
  for await (const { offset } of scanJsonlFile(path)) offsets.push(offset)
  return offsets.at(file === runFiles.attempts || file === runFiles.verdicts ? -7 : -3)!
}

test.each(Object.values(runFiles).filter((file) => file !== runFiles.blobs))(
  '%s cut at every byte of its last three records: nothing is invented, whole attempts stay, resume finishes',
  { timeout: 0 },
  async (file) => {
    const size = statSync(join(original, file)).size
    const from = await lastThree(file)
    const edges = await boundaries(file)
    expect(size - from).toBeGreaterThan(30)
    // Reading writes nothing, so one copy, cut shorter and shorter, is read at every byte.
    const read = copyOf('read')
    for (let at = size - 1; at >= from; at--) {
      const atEdge = edges.some((edge) => Math.abs(edge - at) <= 1)
      try {
        truncateSync(join(read, file), at)
        await checkReading(read, file, at)
        if (atEdge || (at - from) % opensEvery === 0) await checkOpening(copyCut(file, at), file, at)
        if (atEdge || (at - from) % resumesEvery === 0) await checkResume(copyCut(file, at), file, at)
      } catch (error) {
        throw new Error(`${file} cut at ${at} of ${size}: ${(error as Error).message}`, { cause: error })
      }
    }
  },
)

test('a run that was cut and taken up is not changed by taking it up again', async () => {
  for (const file of [runFiles.attempts, runFiles.verdicts, runFiles.private]) {
    const dir = copyCut(file, Math.floor(statSync(join(original, file)).size * 0.7))
    await resumeRun({ dir, env, players: { agent: { model: answering() } } })
    const before = readFileSync(join(dir, runFiles.attempts), 'utf8')
    await resumeRun({ dir, env, players: { agent: { model: answering() } } })
    expect(readFileSync(join(dir, runFiles.attempts), 'utf8')).toBe(before)
  }
})
