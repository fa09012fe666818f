import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseJsonl } from 'quintain'
import { z } from 'zod'

/** Policies that say again what the four models of the paper said, by the name of their field in the file. */
export const recordedModels = {
  '6B-finetuned': '6b_finetuning',
  '6B-verified': '6b_verification',
  '175B-finetuned': '175b_finetuning',
  '175B-verified': '175b_verification',
} as const
export type RecordedModel = keyof typeof recordedModels

/** What these policies lack without the option. */
export const noRecordings =
  'it replays example_model_solutions.jsonl of openai/grade-school-math; say where that is: --option recordings=FILE'

const solution = z.object({ solution: z.string() })
const row = z.object({
  question: z.string(),
  '6b_finetuning': solution,
  '6b_verification': solution,
  '175b_finetuning': solution,
  '175b_verification': solution,
})

const files = new Map<string, Map<string, z.infer<typeof row>>>()

/** The rows of a file by question; read once a process. Only what the models said is kept. */
function rowsOf(path: string): Map<string, z.infer<typeof row>> {
  const found = files.get(path)
  if (found !== undefined) return found
  const { records } = parseJsonl(readFileSync(path))
  const rows = new Map(
    records.map(({ value }) => row.parse(value)).map((each) => [each.question, each] as const),
  )
  files.set(path, rows)
  return rows
}

/**
 * What a model said to a question. In the released file the marker `#### ` of the data is written `A: `, in gold and
 * completions alike; it is put back unless `asReleased`, since the published scorer looks for it.
 *
 * Throws with what to do where there is no file or no such question in it.
 */
export function recordedSolution(options: {
  recordings: string | undefined
  asReleased: boolean
  model: RecordedModel
  question: unknown
}): string {
  const { recordings, asReleased, model, question } = options
  if (recordings === undefined) {
    throw new Error(noRecordings)
  }
  const said = rowsOf(resolve(recordings)).get(String(question))?.[recordedModels[model]].solution
  if (said === undefined)
    throw new Error(
      'the recordings do not hold this question; they are of the test problems: --option data=test.jsonl',
    )
  return asReleased ? said : said.replace(/^A: ?/gm, '#### ')
}
