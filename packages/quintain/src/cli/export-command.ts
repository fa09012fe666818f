import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { evaluationRows, toBedrock, toOpenAiGrader, toRunRl } from '../doors/graders-out/index.ts'
import { printableLine, writeOutput } from '../report/index.ts'
import type { Grader } from '../scoring/index.ts'
import type { CliIo } from './io.ts'
import { readGraders } from './read-graders.ts'
import { findOneRun } from './run-path.ts'

export const exportFormats = ['openai', 'runrl', 'bedrock', 'fireworks'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportOptions {
  out?: string
  force?: boolean
}

/**
 * Writes a hosted grader for another platform, or the rows of a run. What a platform cannot express is refused, and nothing is
 * written.
 */
export async function exportCommand(
  format: ExportFormat,
  source: string,
  options: ExportOptions,
  io: CliIo,
): Promise<void> {
  const { text, notes } =
    format === 'fireworks' ? await rowsOf(source, io) : await graderText(format, await onlyGrader(source, io))
  if (options.out === undefined) io.stdout.write(text)
  else
    await writeOutput(resolve(io.cwd, options.out), text, {
      kind: { name: 'export', mark: markOf(format) },
      force: options.force === true,
    })
  for (const note of notes) io.stderr.write(`${printableLine(note, 400)}\n`)
}

function markOf(format: ExportFormat): string {
  return { openai: '{\n  "type": ', runrl: '# RunRL', bedrock: '# Lambda', fireworks: '{"messages":' }[format]
}

interface Exported {
  text: string
  notes: string[]
}

async function graderText(format: Exclude<ExportFormat, 'fireworks'>, grader: Grader): Promise<Exported> {
  if (format === 'openai') return { text: `${JSON.stringify(toOpenAiGrader(grader), null, 2)}\n`, notes: [] }
  const { code, requirements } = format === 'runrl' ? toRunRl(grader) : toBedrock(grader)
  return {
    text: code,
    notes:
      requirements.length === 0
        ? []
        : [
            `It needs ${requirements.join(', ')} beside it (package_requirements, or a layer of the function).`,
          ],
  }
}

/** Throws `export_refused` where there are several: another platform takes one. */
async function onlyGrader(source: string, io: CliIo): Promise<Grader> {
  const { graders } = await readGraders(source, io)
  const [grader, ...more] = graders
  if (grader !== undefined && more.length === 0) return grader
  throw new QuintainError(
    'export_refused',
    `${source} has ${graders.length} graders, and another platform takes one: make a multi of them, or name a file with one of them.`,
    { facts: { source, graders: graders.length } },
  )
}

async function rowsOf(source: string, io: CliIo): Promise<Exported> {
  const dir = await findOneRun(source, io.cwd)
  const lines: string[] = []
  let invalid = 0
  for await (const row of evaluationRows(dir)) {
    if (!row.evaluation_result.is_score_valid) invalid++
    lines.push(`${JSON.stringify(row)}\n`)
  }
  const notes = [
    `${lines.length} rows. Gold answers are not among them: they stay in the run's private part.`,
  ]
  if (invalid > 0)
    notes.push(`${invalid} of them have no score (is_score_valid is false); leave those out of training.`)
  return { text: lines.join(''), notes }
}
