import type { Rational } from './rational.ts'

/** Brackets round a list. */
export interface Brackets {
  open: '(' | '['
  close: ')' | ']'
}

/** An answer as it was written: what its signs say, before anything is worked out. */
export type Node =
  | { kind: 'number'; value: Rational }
  | { kind: 'symbol'; name: string }
  | { kind: 'constant'; name: 'pi' | 'e' | 'i' }
  | { kind: 'infinity' }
  | { kind: 'text'; text: string }
  | { kind: 'sum'; items: readonly Node[] }
  | { kind: 'minus'; item: Node }
  | { kind: 'product'; items: readonly Node[] }
  | { kind: 'quotient'; over: Node; under: Node }
  | { kind: 'power'; base: Node; exponent: Node }
  /** A function by name; `log` with two arguments is the logarithm of the first to the base of the second. */
  | { kind: 'function'; name: string; args: readonly Node[] }
  | { kind: 'factorial'; item: Node }
  | { kind: 'binomial'; n: Node; k: Node }
  | { kind: 'plusminus'; left: Node | undefined; right: Node }
  | { kind: 'percent'; item: Node }
  | { kind: 'degrees'; item: Node }
  | { kind: 'quantity'; item: Node; unit: string }
  /** Digits of another base than ten. */
  | { kind: 'digits'; digits: string; base: number }
  /** `11:00` or `2:3:4`. */
  | { kind: 'ratio'; items: readonly Node[] }
  /** `1, 2, 3` or `1 and 2`. */
  | { kind: 'list'; items: readonly Node[] }
  | { kind: 'tuple'; items: readonly Node[]; brackets: Brackets }
  | { kind: 'set'; items: readonly Node[] }
  | { kind: 'union' | 'intersection' | 'without'; items: readonly Node[] }
  /** Rows of equal length. `determinant`: between bars. */
  | { kind: 'matrix'; rows: readonly (readonly Node[])[]; determinant: boolean }
  | { kind: 'relation'; items: readonly Node[]; signs: readonly RelationSign[]; builder: boolean }
  | { kind: 'dots' }

export type RelationSign = '=' | '<' | '>' | '≤' | '≥' | '≠' | '∈' | '≈'
