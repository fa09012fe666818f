import { atLeast, between, type FormulaFunctions, fixed, given } from './formula-function.ts'
import {
  bounded,
  FormulaProblem,
  isCellError,
  numberOf,
  type Spend,
  single,
  textOf,
  truthOf,
  valuesOf,
  wholeOf,
} from './formula-values.ts'

function length(value: number): number {
  if (value < 0) throw new FormulaProblem('#VALUE!')
  return value
}

/** Where a text stands in another from a position on, counted from 1. */
function find(part: string, text: string, from: number): number {
  const at = from < 1 || from > text.length + 1 ? -1 : text.indexOf(part, from - 1)
  if (at < 0) throw new FormulaProblem('#VALUE!')
  return at + 1
}

function joined(parts: Iterable<string>, between: string, spend: Spend): string {
  let text = ''
  let first = true
  for (const part of parts) {
    text = bounded(first ? part : text + between + part, spend)
    first = false
  }
  return text
}

export const textFunctions: FormulaFunctions = {
  LEN: fixed(1, ([value = null]) => textOf(value).length),
  LEFT: between(1, 2, (values) => textOf(given(values, 0)).slice(0, length(wholeOf(given(values, 1, 1))))),
  RIGHT: between(1, 2, (values) => {
    const text = textOf(given(values, 0))
    return text.slice(Math.max(0, text.length - length(wholeOf(given(values, 1, 1)))))
  }),
  MID: fixed(3, ([value = null, from = null, count = null]) => {
    const start = wholeOf(from)
    if (start < 1) throw new FormulaProblem('#VALUE!')
    return textOf(value).slice(start - 1, start - 1 + length(wholeOf(count)))
  }),
  UPPER: fixed(1, ([value = null], spend) => bounded(textOf(value).toUpperCase(), spend)),
  LOWER: fixed(1, ([value = null], spend) => bounded(textOf(value).toLowerCase(), spend)),
  TRIM: fixed(1, ([value = null]) => textOf(value).split(' ').filter(Boolean).join(' ')),
  CONCATENATE: atLeast(1, (values, spend) => joined(values.map(textOf), '', spend)),
  CONCAT: atLeast(1, (values, spend) => joined([...valuesOf(values)].map(textOf), '', spend)),
  TEXTJOIN: atLeast(3, ([delimiter = null, skip = null, ...values], spend) => {
    const skips = truthOf(skip)
    const parts = [...valuesOf(values)].map(textOf).filter((part) => !skips || part !== '')
    return joined(parts, textOf(delimiter), spend)
  }),
  EXACT: fixed(2, ([a = null, b = null]) => textOf(a) === textOf(b)),
  FIND: between(2, 3, (values) =>
    find(textOf(given(values, 0)), textOf(given(values, 1)), wholeOf(given(values, 2, 1))),
  ),
  SUBSTITUTE: fixed(3, ([value = null, from = null, to = null], spend) => {
    const [text, part] = [textOf(value), textOf(from)]
    return part === '' ? text : joined(text.split(part), textOf(to), spend)
  }),
  VALUE: fixed(1, ([value = null]) => numberOf(value)),
  ISNUMBER: fixed(1, ([value = null]) => typeof single(value) === 'number'),
  ISTEXT: fixed(1, ([value = null]) => typeof single(value) === 'string'),
  ISBLANK: fixed(1, ([value = null]) => single(value) === null),
  ISERROR: fixed(1, ([value = null]) => isCellError(single(value))),
}
