import { type FormulaFunctions, fixed } from './formula-function.ts'
import { FormulaProblem, type FormulaValue, finite, numberOf, wholeOf } from './formula-values.ts'

const dayMs = 86_400_000
const lastDay = 2_958_465

/** The serial number of a day in the system of 1900, whose day 60 never was. */
function serialOf(time: number): number {
  const serial = Math.round((time - Date.UTC(1899, 11, 30)) / dayMs)
  const day = serial >= 61 ? serial : serial - 1
  if (!(day >= 0 && day <= lastDay)) throw new FormulaProblem('#NUM!')
  return day
}

/** Year, month (from 1) and day of a serial number. */
function dayOf(value: FormulaValue): [number, number, number] {
  const serial = Math.floor(finite(numberOf(value)))
  if (serial < 0 || serial > lastDay) throw new FormulaProblem('#NUM!')
  if (serial === 0) return [1900, 1, 0]
  if (serial === 60) return [1900, 2, 29]
  const at = new Date(Date.UTC(1899, 11, 30) + (serial > 60 ? serial : serial + 1) * dayMs)
  return [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()]
}

export const dayFunctions: FormulaFunctions = {
  DATE: fixed(3, ([year = null, month = null, day = null]) => {
    const years = wholeOf(year)
    if (years < 0 || years > 9999) throw new FormulaProblem('#NUM!')
    // Years below 1900 are counted from it.
    return serialOf(Date.UTC(years < 1900 ? years + 1900 : years, wholeOf(month) - 1, wholeOf(day)))
  }),
  YEAR: fixed(1, ([value = null]) => dayOf(value)[0]),
  MONTH: fixed(1, ([value = null]) => dayOf(value)[1]),
  DAY: fixed(1, ([value = null]) => dayOf(value)[2]),
}
