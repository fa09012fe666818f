import { countFunctions } from './formula-counts.ts'
import { dayFunctions } from './formula-days.ts'
import type { FormulaFunction } from './formula-function.ts'
import { logicFunctions } from './formula-logic.ts'
import { lookupFunctions } from './formula-lookup.ts'
import { numberFunctions } from './formula-numbers.ts'
import { textFunctions } from './formula-texts.ts'

/** Every function that calculates all its arguments, by its name in capitals. */
export const formulaFunctions: ReadonlyMap<string, FormulaFunction> = new Map(
  [numberFunctions, countFunctions, lookupFunctions, textFunctions, dayFunctions, logicFunctions].flatMap(
    (functions) => Object.entries(functions),
  ),
)
