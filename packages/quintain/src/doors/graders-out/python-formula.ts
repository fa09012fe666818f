import type { Formula } from '../../scoring/index.ts'

const functions: Record<string, string> = {
  min: 'min',
  max: 'max',
  abs: 'abs',
  floor: 'math.floor',
  ceil: 'math.ceil',
  exp: 'math.exp',
  sqrt: 'math.sqrt',
  log: 'math.log',
}

/** A formula as a Python expression over `parts`, a dictionary of scores by name. Python raises where the formula has no value. */
export function pythonFormula(formula: Formula): string {
  switch (formula.kind) {
    case 'number':
      return Number.isInteger(formula.value) && Math.abs(formula.value) < 1e15
        ? `${formula.value}.0`
        : String(formula.value)
    case 'name':
      return `parts[${JSON.stringify(formula.name)}]`
    case 'minus':
      return `(-${pythonFormula(formula.item)})`
    case 'operation': {
      const sign = formula.sign === '^' ? '**' : formula.sign
      return `(${pythonFormula(formula.left)} ${sign} ${pythonFormula(formula.right)})`
    }
    case 'call': {
      const args = formula.args.map(pythonFormula)
      // Python's min and max take two and more.
      if ((formula.name === 'min' || formula.name === 'max') && args.length === 1) return args[0]!
      return `${functions[formula.name]}(${args.join(', ')})`
    }
  }
}
