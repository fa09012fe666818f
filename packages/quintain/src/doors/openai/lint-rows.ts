import { type Grader, parseTemplate, templatesOf } from '../../scoring/index.ts'
import type { Findings } from './findings.ts'
import type { HostedRow } from './hosted-row.ts'
import { leavesOf } from './lint-grader.ts'

/** Looks whether the fields that a grader reads are in the rows, and whether the fields of the rows are read. */
export function lintRows(rows: readonly HostedRow[], graders: readonly Grader[], findings: Findings): void {
  const paths = new Map<string, readonly string[]>()
  const sources: string[] = []
  for (const one of graders) {
    for (const text of templatesOf(one)) {
      const reading = parseTemplate(text)
      if (!reading.ok) continue
      for (const part of reading.parts)
        if ('path' in part && part.path[0] === 'item') paths.set(part.source, part.path.slice(1))
    }
    for (const [, leaf] of leavesOf(one)) if (leaf.type === 'python') sources.push(leaf.source)
  }
  tellMissing(rows, paths, findings)
  const fields = new Set(rows.flatMap(({ item }) => Object.keys(item)))
  const readWhole = [...paths.values()].some((path) => path.length === 0)
  // A Python source may read a field by any name that it builds; one that says the name is taken to read it.
  const isRead = (field: string) =>
    readWhole ||
    [...paths.values()].some(([first]) => first === field) ||
    sources.some((source) => source.includes(field))
  for (const field of fields) {
    const holders = rows.filter(({ item }) => Object.hasOwn(item, field))
    if (!isRead(field))
      findings.add({
        severity: 'warning',
        code: 'unused_field',
        place: `item.${field}`,
        message: 'No grader reads this field; it is kept in the secret of the tasks.',
        rows: holders.length,
      })
    else tellHuge(field, holders, findings)
  }
}

function tellMissing(
  rows: readonly HostedRow[],
  paths: ReadonlyMap<string, readonly string[]>,
  findings: Findings,
): void {
  for (const [source, path] of paths) {
    const without = rows.filter(({ item }) => !isThere(item, path))
    if (without.length === 0) continue
    const [first] = without
    const all = without.length === rows.length
    findings.add({
      severity: all ? 'error' : 'warning',
      code: 'missing_variable',
      place: first!.place,
      message: `{{ ${source} }} is not in ${all ? 'any row' : `${without.length} of ${rows.length} rows`}: those cannot be graded. Mend the rows, or the grader.`,
      rows: without.length,
    })
  }
}

function tellHuge(field: string, holders: readonly HostedRow[], findings: Findings): void {
  const changed = holders.filter(({ huge }) => huge.has(field))
  if (changed.length > 0)
    findings.add({
      severity: 'error',
      code: 'huge_integer_graded',
      place: changed[0]!.place,
      message: `item.${field} holds a number that JavaScript cannot (an integer beyond 2^53, or an overflow) and a grader reads it, which would then see another value. Write it as text in the file, and let the grader read text.`,
      rows: changed.length,
    })
}

function isThere(item: unknown, path: readonly string[]): boolean {
  let value = item
  for (const name of path) {
    if (Array.isArray(value)) value = /^-?\d+$/.test(name) ? (value as unknown[]).at(Number(name)) : undefined
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, name))
      value = (value as Record<string, unknown>)[name]
    else return false
  }
  return value !== undefined
}
