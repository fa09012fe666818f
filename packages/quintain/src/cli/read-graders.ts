import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf, QuintainError } from '../core/index.ts'
import { type Grader, readGrader } from '../scoring/index.ts'
import type { CliIo } from './io.ts'

/** Graders of a file, or of the package that was imported of one. */
export interface GraderSource {
  graders: Grader[]
  guesses: string[]
  /** The folder of the package; undefined for a file alone. */
  folder: string | undefined
}

/** Reads the hosted graders that a user names: a JSON file of one or of a list, or the folder of an imported package. Throws `import_invalid`. */
export async function readGraders(source: string, io: CliIo): Promise<GraderSource> {
  const path = resolve(io.cwd, source)
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const files = isFolder ? [join(path, 'grader.json'), join(path, 'criteria.json')] : [path]
  const text = await firstOf(files)
  if (text === undefined) {
    throw new QuintainError(
      'import_invalid',
      isFolder
        ? `${source} has neither grader.json nor criteria.json: it was not imported from a hosted platform. Rewards that are TypeScript are served with their environment, or exported as the rows of a run (fireworks).`
        : `${source} cannot be read: name a grader's JSON, or the folder of a package that was imported.`,
      { facts: { source } },
    )
  }
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new QuintainError('import_invalid', `${source} is no JSON: ${messageOf(error)}`, {
      facts: { source },
    })
  }
  const read = gradersIn(json).map(readGrader)
  return {
    graders: read.map(({ grader }) => grader),
    guesses: read.flatMap(({ guesses }) => guesses),
    folder: isFolder ? path : undefined,
  }
}

/** A list of graders, the criteria of an eval, or one grader. */
function gradersIn(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json as unknown[]
  const criteria = (json as { testing_criteria?: unknown } | null)?.testing_criteria
  return Array.isArray(criteria) ? (criteria as unknown[]) : [json]
}

async function firstOf(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text !== undefined) return text
  }
  return undefined
}
