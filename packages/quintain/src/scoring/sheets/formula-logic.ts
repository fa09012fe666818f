import { atLeast, type FormulaFunctions, fixed } from './formula-function.ts'
import type { FormulaNode } from './formula-tree.ts'
import {
  FormulaProblem,
  type FormulaValue,
  isCellError,
  isGrid,
  type Spend,
  single,
  truthOf,
} from './formula-values.ts'

/** Truths of the arguments; of ranges, texts and blanks are left out. */
function truths(values: readonly FormulaValue[], spend: Spend): boolean[] {
  const found: boolean[] = []
  for (const value of values) {
    if (!isGrid(value)) {
      found.push(truthOf(value))
      continue
    }
    for (const row of value.rows)
      for (const cell of row) {
        spend(1)
        if (isCellError(cell)) throw new FormulaProblem(cell.error)
        if (typeof cell === 'number' || typeof cell === 'boolean') found.push(Boolean(cell))
      }
  }
  if (found.length === 0) throw new FormulaProblem('#VALUE!')
  return found
}

export const logicFunctions: FormulaFunctions = {
  AND: atLeast(1, (values, spend) => truths(values, spend).every(Boolean)),
  OR: atLeast(1, (values, spend) => truths(values, spend).some(Boolean)),
  XOR: atLeast(1, (values, spend) => truths(values, spend).filter(Boolean).length % 2 === 1),
  NOT: fixed(1, ([value = null]) => !truthOf(value)),
  TRUE: fixed(0, () => true),
  FALSE: fixed(0, () => false),
  NA: fixed(0, () => ({ error: '#N/A' })),
}

type Lazy = (given: readonly FormulaNode[], evaluate: (node: FormulaNode) => FormulaValue) => FormulaValue

/** Functions that calculate only the arguments that they need. */
export const lazyFunctions: Record<string, Lazy> = {
  IF: ([test, then, otherwise, ...more], evaluate) => {
    if (test === undefined || then === undefined || more.length > 0) throw new FormulaProblem('#ERROR!')
    if (truthOf(evaluate(test))) return evaluate(then)
    return otherwise === undefined ? false : evaluate(otherwise)
  },
  IFS: (given, evaluate) => {
    if (given.length === 0 || given.length % 2 === 1) throw new FormulaProblem('#ERROR!')
    for (let index = 0; index < given.length; index += 2) {
      const [test, then] = [given[index], given[index + 1]]
      if (test !== undefined && then !== undefined && truthOf(evaluate(test))) return evaluate(then)
    }
    throw new FormulaProblem('#N/A')
  },
  IFERROR: (given, evaluate) => instead(given, evaluate, () => true),
  IFNA: (given, evaluate) => instead(given, evaluate, (error) => error === '#N/A'),
}

function instead(
  [first, second, ...more]: readonly FormulaNode[],
  evaluate: (node: FormulaNode) => FormulaValue,
  covers: (error: string) => boolean,
): FormulaValue {
  if (first === undefined || second === undefined || more.length > 0) throw new FormulaProblem('#ERROR!')
  const value = evaluate(first)
  const one = single(value)
  return isCellError(one) && covers(one.error) ? evaluate(second) : value
}
