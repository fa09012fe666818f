import { isObject } from '../../core/chat-messages.ts'
import type { Findings } from './findings.ts'
import { type HeldFile, type HeldRow, jsonOfFile, rowsOfFile } from './read-files.ts'

/** What was found in the files of an eval, by what it is. */
export interface EvalFiles {
  eval: Record<string, unknown> | undefined
  runs: Record<string, unknown>[]
  /** Output items of runs. */
  items: HeldRow[]
  /** Rows `{ item, sample? }`. */
  data: HeldRow[]
}

/** Sorts objects of files by what they are: `object`, or the fields that only one kind has. */
export function sortEvalFiles(files: readonly HeldFile[], findings: Findings): EvalFiles {
  const found: EvalFiles = { eval: undefined, runs: [], items: [], data: [] }
  for (const file of files) {
    for (const row of objectsOf(file, findings)) sort(row, found, findings)
  }
  if (found.eval === undefined)
    findings.add({
      severity: 'error',
      code: 'no_eval',
      place: 'command',
      message: 'No file holds an eval with testing_criteria; give the JSON of the eval too.',
    })
  return found
}

function objectsOf(file: HeldFile, findings: Findings): HeldRow[] {
  if (/\.(jsonl|ndjson)$/i.test(file.name)) return rowsOfFile(file, findings).flatMap(withLists)
  const value = jsonOfFile(file, findings)
  if (value === undefined) return []
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.flatMap((one, index) => {
    const place = list.length === 1 ? file.name : `${file.name}[${index}]`
    if (isObject(one)) return withLists({ place, value: one, huge: new Set<string>() })
    findings.add({ severity: 'error', code: 'no_object', place, message: 'It is no object.' })
    return []
  })
}

/** The API gives lists as `{ object: 'list', data }`. */
function withLists(row: HeldRow): HeldRow[] {
  const { value, place, huge } = row
  const { data } = value
  if (value['object'] !== 'list' || !Array.isArray(data)) return [row]
  return (data as unknown[]).flatMap((one, index) =>
    isObject(one) ? [{ place: `${place} data[${index}]`, value: one, huge }] : [],
  )
}

function sort(row: HeldRow, found: EvalFiles, findings: Findings): void {
  const { value, place } = row
  const { object } = value
  if (
    object === 'eval.run.output_item' ||
    (isObject(value['datasource_item']) && Array.isArray(value['results']))
  )
    found.items.push(row)
  else if (object === 'eval.run' || isObject(value['data_source'])) {
    found.runs.push(value)
    found.data.push(...rowsWithin(row))
  } else if (object === 'eval' || value['testing_criteria'] !== undefined) {
    if (found.eval !== undefined)
      findings.add({
        severity: 'error',
        code: 'two_evals',
        place,
        message: 'This is a second eval; a package is made of one. Give the files of one eval.',
      })
    found.eval ??= value
  } else if (isObject(value['item'])) found.data.push(row)
  else {
    findings.add({
      severity: 'guess',
      code: 'bare_item',
      place,
      message: 'The object is no eval, no run and no { item }; it is taken for a row as it stands.',
    })
    found.data.push({ ...row, value: { item: value } })
  }
}

/** Rows that a run holds itself. */
function rowsWithin({ value, place, huge }: HeldRow): HeldRow[] {
  const source = isObject(value['data_source']) ? value['data_source'] : {}
  const inner = isObject(source['source']) ? source['source'] : {}
  const { content } = inner
  if (!Array.isArray(content)) return []
  return (content as unknown[]).flatMap((row, index) =>
    isObject(row) && isObject(row['item']) ? [{ place: `${place} content[${index}]`, value: row, huge }] : [],
  )
}
