/**
 * The formula language of `multi` graders: names, numbers, brackets, + - * / ^, and the functions min, max, abs, floor, ceil,
 * exp, sqrt and log (natural). No conditions.
 */
export type Formula =
  | { kind: 'number'; value: number }
  | { kind: 'name'; name: string; at: number }
  | { kind: 'minus'; item: Formula }
  | { kind: 'operation'; sign: '+' | '-' | '*' | '/' | '^'; left: Formula; right: Formula }
  | { kind: 'call'; name: FormulaFunction; args: readonly Formula[] }

const arities = {
  min: [1, 64],
  max: [1, 64],
  abs: [1, 1],
  floor: [1, 1],
  ceil: [1, 1],
  exp: [1, 1],
  sqrt: [1, 1],
  log: [1, 1],
} as const

export type FormulaFunction = keyof typeof arities

/** What a formula is, or where and why it is none. */
export type FormulaReading =
  | { ok: true; formula: Formula; names: readonly string[] }
  | { ok: false; message: string /** Position in the text, from zero. */; at: number }

const longest = 10_000
const deepest = 200

class FormulaProblem extends Error {
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/**
 * Reads a formula. Never throws.
 *
 * @example parseFormula('0.7 * acc + 0.3 * min(fmt, 1)') // { ok: true, names: ['acc', 'fmt'], … }
 */
export function parseFormula(text: string): FormulaReading {
  if (text.length > longest)
    return { ok: false, message: `the formula has more than ${longest} characters`, at: longest }
  const names = new Set<string>()
  try {
    return { ok: true, formula: new FormulaParser(text, names).whole(), names: [...names] }
  } catch (thrown) {
    if (thrown instanceof FormulaProblem) return { ok: false, message: thrown.message, at: thrown.at }
    throw thrown
  }
}

class FormulaParser {
  private readonly text: string
  private readonly names: Set<string>
  private at = 0
  private depth = 0

  constructor(text: string, names: Set<string>) {
    this.text = text
    this.names = names
  }

  whole(): Formula {
    const formula = this.sum()
    this.space()
    if (this.at < this.text.length)
      throw this.problem(`"${this.text[this.at]}" stands where a sign or the end is expected`)
    return formula
  }

  private problem(message: string, at = this.at): FormulaProblem {
    return new FormulaProblem(message, at)
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++
  }

  private take(signs: string): string | undefined {
    this.space()
    const sign = this.text[this.at]
    if (sign === undefined || !signs.includes(sign)) return undefined
    this.at++
    return sign
  }

  private sum(): Formula {
    if (++this.depth > deepest) throw this.problem('the formula is nested too deep')
    let left = this.product()
    for (;;) {
      const sign = this.take('+-')
      if (sign === undefined) break
      left = { kind: 'operation', sign: sign as '+' | '-', left, right: this.product() }
    }
    this.depth--
    return left
  }

  private product(): Formula {
    let left = this.signed()
    for (;;) {
      // Python's spelling of a power is not the language's.
      if (this.text.slice(this.at).trimStart().startsWith('**'))
        throw this.problem('"**" is no sign of this language; a power is written a ^ b')
      const sign = this.take('*/')
      if (sign === undefined) return left
      left = { kind: 'operation', sign: sign as '*' | '/', left, right: this.signed() }
    }
  }

  private signed(): Formula {
    if (++this.depth > deepest) throw this.problem('the formula is nested too deep')
    const sign = this.take('+-')
    const item = sign === undefined ? this.power() : this.signed()
    this.depth--
    return sign === '-' ? { kind: 'minus', item } : item
  }

  /** a ^ b ^ c is a ^ (b ^ c), and −a ^ b is −(a ^ b). */
  private power(): Formula {
    const left = this.primary()
    return this.take('^') === undefined ? left : { kind: 'operation', sign: '^', left, right: this.signed() }
  }

  private primary(): Formula {
    this.space()
    const rest = this.text.slice(this.at)
    const number = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.exec(rest)?.[0]
    if (number !== undefined) {
      const value = Number(number)
      if (!Number.isFinite(value)) throw this.problem(`the number ${number.slice(0, 20)} is too large`)
      this.at += number.length
      return { kind: 'number', value }
    }
    const name = /^[A-Za-z_]\w*/.exec(rest)?.[0]
    if (name !== undefined) {
      const start = this.at
      this.at += name.length
      if (this.take('(') !== undefined) return this.call(name, start)
      this.names.add(name)
      return { kind: 'name', name, at: start }
    }
    if (this.take('(') !== undefined) {
      const inner = this.sum()
      if (this.take(')') === undefined) throw this.problem('a bracket is not closed')
      return inner
    }
    throw this.problem(
      this.at >= this.text.length
        ? 'the formula ends where a value is expected'
        : `"${rest[0]}" stands where a value is expected`,
    )
  }

  private call(name: string, start: number): Formula {
    if (!Object.hasOwn(arities, name))
      throw this.problem(`"${name}" is no function; there are ${Object.keys(arities).join(', ')}`, start)
    const known = name as FormulaFunction
    const args = [this.sum()]
    while (this.take(',') !== undefined) args.push(this.sum())
    if (this.take(')') === undefined) throw this.problem('a bracket is not closed')
    const [fewest, most] = arities[known]
    if (args.length < fewest || args.length > most)
      throw this.problem(
        `${name} takes ${fewest === most ? fewest : `${fewest} to ${most}`}, not ${args.length}`,
        start,
      )
    return { kind: 'call', name: known, args }
  }
}

/** The value of a formula, or why it has none: a result that is no finite number is never one. */
export type FormulaValue = { ok: true; value: number } | { ok: false; message: string }

/** Works a formula out. Names without a value are the caller's to refuse; here they make it fail. Never throws. */
export function evaluateScoreFormula(
  formula: Formula,
  values: Readonly<Record<string, number>>,
): FormulaValue {
  const problem: { message?: string } = {}
  const fail = (message: string): number => {
    problem.message ??= message
    return Number.NaN
  }
  const of = (node: Formula): number => {
    switch (node.kind) {
      case 'number':
        return node.value
      case 'name':
        return Object.hasOwn(values, node.name) ? values[node.name]! : fail(`"${node.name}" has no value`)
      case 'minus':
        return -of(node.item)
      case 'operation':
        return finite(operate(node.sign, of(node.left), of(node.right), fail), node.sign, fail)
      case 'call':
        return finite(apply(node.name, node.args.map(of), fail), node.name, fail)
    }
  }
  const value = of(formula)
  if (problem.message !== undefined) return { ok: false, message: problem.message }
  if (!Number.isFinite(value)) return { ok: false, message: 'the result is no finite number' }
  return { ok: true, value: value === 0 ? 0 : value }
}

type Fail = (message: string) => number

function finite(value: number, what: string, fail: Fail): number {
  return Number.isFinite(value) ? value : fail(`${what} gives no finite number`)
}

function operate(sign: '+' | '-' | '*' | '/' | '^', left: number, right: number, fail: Fail): number {
  switch (sign) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? fail('a division by zero') : left / right
    case '^':
      return left ** right
  }
}

function apply(name: FormulaFunction, args: readonly number[], fail: Fail): number {
  const [x = 0] = args
  switch (name) {
    case 'min':
      return Math.min(...args)
    case 'max':
      return Math.max(...args)
    case 'abs':
      return Math.abs(x)
    case 'floor':
      return Math.floor(x)
    case 'ceil':
      return Math.ceil(x)
    case 'exp':
      return Math.exp(x)
    case 'sqrt':
      return x < 0 ? fail('a root of what is below zero') : Math.sqrt(x)
    case 'log':
      return x <= 0 ? fail('a logarithm of what is not above zero') : Math.log(x)
  }
}
