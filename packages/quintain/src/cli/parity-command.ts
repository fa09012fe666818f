import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type JsonlIssue, type Model, QuintainError, readJsonlFile } from '../core/index.ts'
import { agrees, type ParityRow, parityText, readParityRow, replay } from '../doors/parity/index.ts'
import { gradingSandbox, JudgeDesk } from '../engine/index.ts'
import { printableLine } from '../report/index.ts'
import { openSandboxDriver, pythonDrivers } from '../sandbox-drivers.ts'
import { type GraderMeans, modelsOf, pythonIn } from '../scoring/index.ts'
import type { DoorParityOptions } from './door-parity.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { PlayerOpener } from './players.ts'
import { readGraders } from './read-graders.ts'

export type ParityOptions = DoorParityOptions

/** Those that only doors know. */
const ofDoors = [
  'door',
  'tasks',
  'policy',
  'run',
  'option',
  'seed',
  'split',
  'limit',
  'seat',
  'markdown',
] as const

/**
 * Compares what is the same by two ways: of graders their scores of saved outputs with those that were saved, of an
 * environment what episodes earn behind doors with what they earned in the engine. An imported package, which is both, is a
 * grader unless an option of doors is given.
 */
export async function parityCommand(
  source: string,
  files: readonly string[],
  options: ParityOptions,
  io: CliIo,
): Promise<ExitCode> {
  const door = ofDoors.find((name) => options[name] !== undefined)
  if (door === undefined && (files.length > 0 || isGrader(resolve(io.cwd, source))))
    return graderParity(source, files, options, io)
  if (files.length > 0)
    throw new QuintainError(
      'usage',
      `Saved outputs are for graders, and --${door} for environments behind doors.`,
    )
  const { doorParity } = await import('./door-parity.ts')
  return doorParity(source, options, io)
}

/** A file of JSON, or a folder that was imported of a hosted platform. */
function isGrader(path: string): boolean {
  if (path.endsWith('.json')) return true
  return ['grader.json', 'criteria.json'].some((name) => existsSync(join(path, name)))
}

/**
 * Replays saved outputs through graders and prints how far they agree with the scores that were saved. Exits with 1 where a
 * row disagrees beyond its tolerance, or could not be graded.
 */
async function graderParity(
  source: string,
  files: readonly string[],
  options: ParityOptions,
  io: CliIo,
): Promise<ExitCode> {
  const { graders, folder } = await readGraders(source, io)
  const inside = folder === undefined ? undefined : join(folder, 'parity.jsonl')
  const paths = files.length > 0 ? files.map((file) => resolve(io.cwd, file)) : [inside ?? '']
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined) {
    throw new QuintainError(
      'import_invalid',
      missing === '' || missing === inside
        ? 'There are no saved outputs: name a file of JSON lines { item, sample, expected }, or the output items of an eval run.'
        : `There is no file ${relative(io.cwd, missing)}.`,
      { facts: { file: missing } },
    )
  }
  const problems: string[] = []
  const only = graders[0]?.name ?? 'grader'
  const opener = new PlayerOpener(options, io)
  const boxes = await openBoxes(graders.flatMap(kindsOf), options.sandbox)
  try {
    const judges = await opener.judges(options.judge)
    const means: GraderMeans = {
      ...askOf([...new Set(graders.flatMap(modelsOf))], judges),
      ...(boxes === undefined ? {} : { python: pythonIn(boxes.sandbox) }),
    }
    const report = await replay({
      graders: Object.fromEntries(graders.map((grader) => [grader.name, grader])),
      rows: rowsOf(paths, only, problems),
      means,
    })
    io.stdout.write(
      options.json ? `${JSON.stringify({ ...report, problems }, null, 2)}\n` : parityText(report, problems),
    )
    return agrees(report) && problems.length === 0 ? exitCodes.done : exitCodes.belowThreshold
  } finally {
    await boxes?.close()
    await opener.close()
  }
}

function kindsOf(grader: Parameters<typeof modelsOf>[0]): string[] {
  return grader.type === 'multi' ? Object.values(grader.graders).map(({ type }) => type) : [grader.type]
}

async function openBoxes(kinds: readonly string[], name: string | undefined) {
  if (!kinds.includes('python')) return undefined
  const driver = await openSandboxDriver(name === undefined ? { drivers: pythonDrivers } : { name })
  const { sandbox, close } = gradingSandbox(driver)
  return {
    sandbox,
    async close() {
      await close()
      await driver.close?.()
    },
  }
}

function askOf(names: readonly string[], judges: Readonly<Record<string, Model>>): Pick<GraderMeans, 'ask'> {
  if (Object.keys(judges).length === 0) return {}
  const over = new AbortController()
  const desk = new JudgeDesk({
    judges: names,
    modelOf(judge) {
      const model = judges[judge] ?? judges['*']
      if (model !== undefined) return model
      throw new QuintainError(
        'needs_unmet',
        `No model stands for the judge ${judge}: --judge ${judge}=MODEL.`,
      )
    },
    context: { attempt: 'parity', task: 'parity', repeat: 0 },
  })
  return { ask: desk.forGraders(() => over.signal) }
}

async function* rowsOf(
  paths: readonly string[],
  only: string,
  problems: string[],
): AsyncGenerator<ParityRow> {
  for (const path of paths) {
    const onIssue = (issue: JsonlIssue) =>
      problems.push(printableLine(`line ${issue.line + 1} is no whole record (${issue.kind})`, 200))
    for await (const { value, line } of readJsonlFile(path, { onIssue })) {
      const read = readParityRow(value, line + 1, only)
      if (read.ok) yield read.row
      else problems.push(printableLine(`line ${read.line} ${read.problem}`, 200))
    }
  }
}
