import {
  type CellRules,
  type CellValue,
  calculatedCells,
  cellText,
  differentCells,
  evaluateFormula,
  sameCell,
  sameFormula,
} from '../../packages/quintain/src/scoring/index.ts'

type Input = Record<string, unknown>
type Cells = Record<string, CellValue>

const blanksOf = (mode: unknown): CellRules => (mode === 'strict' ? { blanks: 'strict' } : {})

/** Values that a file keeps; a formula is none. */
function kept(cells: unknown): Cells {
  const isKept = (value: CellValue) => value !== null && !(typeof value === 'string' && value.startsWith('='))
  return Object.fromEntries(Object.entries((cells ?? {}) as Cells).filter(([, value]) => isKept(value)))
}

/** Formulas by cell; one alone is that of the one cell that is wanted. */
function formulasOf(given: unknown, wanted: Cells): Cells {
  if (typeof given !== 'string') return (given ?? {}) as Cells
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, given]))
}

function alike(gold: CellValue, actual: CellValue): boolean {
  if (typeof gold === 'string' && typeof actual === 'string' && gold.startsWith('='))
    return sameFormula(gold, actual)
  return sameCell(gold, actual)
}

function rulesFor({ types, abs_tol, rel_tol, mode }: Input): (name: string) => CellRules {
  return (name) => ({
    ...blanksOf(mode),
    ...(abs_tol === undefined ? {} : { absTol: abs_tol as number }),
    ...(rel_tol === undefined ? {} : { relTol: rel_tol as number }),
    ...((types as Record<string, string> | undefined)?.[name] === 'date' ? { type: 'date' } : {}),
  })
}

export const ops: Record<string, (input: Input) => unknown> = {
  'sheet.compare': ({ gold, gold_cached, actual, actual_formula, cached, actual_cached, by, ...rules }) => {
    const wanted = { ...(gold as Cells), ...kept(gold_cached) }
    const formulas = formulasOf(actual_formula, wanted)
    if (by === 'formula') {
      const found = { ...(actual as Cells), ...formulas }
      return { match: Object.keys(wanted).every((name) => alike(wanted[name] ?? null, found[name] ?? null)) }
    }
    const values = { ...(actual as Cells), ...formulas }
    const calculated = calculatedCells(values, { ...kept(actual), ...kept(cached), ...kept(actual_cached) })
    return { match: differentCells(wanted, calculated, rulesFor(rules)).length === 0 }
  },
  'sheet.compare.batch': ({ cells, mode }) => ({
    match: (cells as [CellValue, CellValue][]).map(([gold, actual]) =>
      sameCell(gold, actual, blanksOf(mode)),
    ),
  }),
  'sheet.eval': ({ formula, cells }) => ({
    value: evaluateFormula(formula as string, (cells ?? {}) as Cells),
  }),
  'sheet.read': ({ cell }) => ({ text: cellText(cell as { type: string; stored: string }) }),
}
