import { QuintainError } from '../../core/index.ts'
import { type Grader, readGrader } from '../../scoring/index.ts'
import { Findings } from './findings.ts'
import { type HostedPackage, refuseFindings, writeHostedPackage } from './hosted-package.ts'
import { type HostedRow, readHostedRow, tellDuplicates } from './hosted-row.ts'
import { type HostedJob, readJob } from './job.ts'
import { lintGrader } from './lint-grader.ts'
import { lintRows } from './lint-rows.ts'
import { type HeldFile, jsonOfFile, readHeldFile, rowsOfFile } from './read-files.ts'

/** Files that somebody holds of a hosted reinforcement fine-tuning. */
export interface RftFiles {
  /** The JSON of the grader; where it is absent, the job has it. */
  grader?: string
  train: string
  valid?: string
  /** The job as the API gave it, or the request that made it. */
  job?: string
}

/**
 * Makes the parts of an environment package of the files of a hosted reinforcement fine-tuning, in a folder. Nothing is
 * asked of any service. Throws `import_invalid` with all that is wrong, and then nothing was written.
 */
export async function importRft(
  { grader, train, valid, job }: RftFiles,
  dir: string,
): Promise<HostedPackage> {
  const findings = new Findings()
  const files: HeldFile[] = []
  const open = async (path: string) => {
    const file = await readHeldFile(path)
    files.push(file)
    return file
  }
  const jobFile = job === undefined ? undefined : await open(job)
  const jobValue = jobFile === undefined ? undefined : jsonOfFile(jobFile, findings)
  const held: HostedJob =
    jobFile === undefined || jobValue === undefined
      ? { facts: {} }
      : readJob(jobValue, jobFile.name, findings)
  const graderFile = grader === undefined ? undefined : await open(grader)
  const graderJson = graderFile === undefined ? held.grader : jsonOfFile(graderFile, findings)
  if (graderJson === undefined && graderFile === undefined)
    findings.add({
      severity: 'error',
      code: 'no_grader',
      place: jobFile?.name ?? 'command',
      message: 'There is no grader: give --grader, or a --job that holds one.',
    })
  const read =
    graderJson === undefined ? undefined : readFound(graderJson, graderFile?.name ?? jobFile!.name, findings)
  if (
    graderFile !== undefined &&
    held.grader !== undefined &&
    JSON.stringify(held.grader) !== JSON.stringify(graderJson)
  )
    findings.add({
      severity: 'warning',
      code: 'two_graders',
      place: graderFile.name,
      message: 'The job holds another grader; that of --grader is used.',
    })
  const rows: HostedRow[] = []
  for (const [path, split] of [
    [train, 'train'],
    [valid, 'validation'],
  ] as const) {
    if (path === undefined) continue
    for (const row of rowsOfFile(await open(path), findings)) {
      const made = readHostedRow(row, split, findings)
      if (made !== undefined) rows.push(made)
    }
  }
  tellDuplicates(rows, findings)
  if (read !== undefined) {
    lintGrader(read, findings, 'rft')
    lintRows(rows, [read], findings)
    if (held.output === undefined && JSON.stringify(graderJson).includes('output_json'))
      findings.add({
        severity: 'warning',
        code: 'no_response_format',
        place: graderFile?.name ?? jobFile!.name,
        message:
          'The grader reads sample.output_json, and no response_format was given: agents are not asked for JSON. Give --job.',
      })
  }
  refuseFindings(findings)
  return await writeHostedPackage(
    {
      kind: 'rft',
      graders: read === undefined ? [] : [read],
      rows,
      ...(held.output === undefined ? {} : { output: held.output }),
      files,
      findings,
      facts: { job: held.facts },
      extra: { 'grader.json': graderFile?.bytes ?? `${JSON.stringify(graderJson, null, 2)}\n` },
    },
    dir,
  )
}

/** A grader, or what is wrong with it as a finding. */
export function readFound(json: unknown, place: string, findings: Findings): Grader | undefined {
  try {
    const { grader, guesses } = readGrader(json)
    for (const message of guesses) findings.add({ severity: 'guess', code: 'grader', place, message })
    return grader
  } catch (thrown) {
    if (!QuintainError.isInstance(thrown)) throw thrown
    findings.add({ severity: 'error', code: 'bad_grader', place, message: thrown.message })
    return undefined
  }
}
