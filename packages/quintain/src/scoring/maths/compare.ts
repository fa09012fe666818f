import { maximumMatching } from '../maximum-matching.ts'
import { hasSymbols, multipleOf, type Sameness, sameValues, signOfPoly, within } from './compare-values.ts'
import { evaluate, type Reader } from './evaluate.ts'
import { intervalsOf, sameIntervals } from './intervals.ts'
import { unlabelled } from './label.ts'
import type { MathPolicy } from './math-policy.ts'
import { mulPoly, negPoly, type Poly, type Value } from './poly.ts'
import type { Node, RelationSign } from './syntax.ts'
import { rationalOfTolerance } from './tolerance.ts'
import { unitName } from './unit-name.ts'
import { NoValue, subtract } from './value.ts'

/** Whether two answers mean the same under a policy. Symmetric but for a tolerance, which is a share of the first. */
export class Comparison {
  private readonly policy: MathPolicy
  private readonly reader: Reader

  constructor(policy: MathPolicy, reader: Reader) {
    this.policy = policy
    this.reader = reader
  }

  same(a: Node, b: Node): Sameness {
    this.reader.budget.spend(8)
    if (isEquation(a) && isEquation(b)) {
      const same = this.sameEquations(a, b)
      if (same !== false) return same
    }
    const [left, right] = [this.settled(a), this.settled(b)]
    if (left.label !== undefined && right.label !== undefined && left.label !== right.label) return false
    return this.sameBodies(left.body, right.body)
  }

  /** An answer without its label, its ± written out, and x = 1, x = 2 as a list of both. */
  private settled(node: Node): { label: string | undefined; body: Node } {
    const { label, body } = unlabelled(this.withoutIdentity(node))
    if (body.kind === 'list') {
      const items = body.items.map(unlabelled)
      const [first] = items
      const isOne = first?.label !== undefined && items.every((item) => item.label === first.label)
      if (isOne)
        return {
          label: first.label,
          body: this.withoutSigns({ ...body, items: items.map((item) => item.body) }),
        }
    }
    return { label, body: this.withoutSigns(body) }
  }

  /** 2 + 3 = 5 says 5. */
  private withoutIdentity(node: Node): Node {
    if (node.kind !== 'relation' || node.builder || node.signs.some((sign) => sign !== '=')) return node
    if (unlabelled(node).label !== undefined) return node
    const last = node.items.at(-1)!
    const isTrue = node.items.slice(0, -1).every((item) => this.valuesOf(item, last, sameValues) === true)
    return isTrue ? last : node
  }

  private withoutSigns(node: Node): Node {
    if (node.kind === 'list') {
      const items = node.items.flatMap((item) => {
        const one = this.withoutSigns(item)
        return one.kind === 'list' && item.kind !== 'list' ? one.items : [one]
      })
      return { ...node, items }
    }
    const both = [1, -1].map((sign) => withSign(node, sign))
    return both[0] === node ? node : { kind: 'list', items: both }
  }

  private sameBodies(a: Node, b: Node): Sameness {
    if (a.kind === 'text' || b.kind === 'text') return sameWords(a, b)
    if (a.kind === 'dots' || b.kind === 'dots') return a.kind === b.kind
    if (a.kind === 'digits' || b.kind === 'digits')
      return (
        a.kind === b.kind &&
        a.kind === 'digits' &&
        b.kind === 'digits' &&
        a.digits === b.digits &&
        a.base === b.base
      )
    if (a.kind === 'ratio' || b.kind === 'ratio')
      return a.kind === 'ratio' && b.kind === 'ratio' ? this.inOrder(a.items, b.items) : false
    if (isInfinite(a) || isInfinite(b)) return isInfinite(a) && isInfinite(b) && a.kind === b.kind
    const asSets = this.asIntervals(a, b)
    if (asSets !== undefined) return asSets
    if (a.kind === 'relation' || b.kind === 'relation')
      return a.kind === 'relation' && b.kind === 'relation' ? this.sameRelations(a, b) : false
    const matrices = this.sameMatrices(a, b)
    if (matrices !== undefined) return matrices
    const left = itemsOf(a)
    const right = itemsOf(b)
    if (left !== undefined || right !== undefined) return this.sameCollections(a, b, left, right)
    return this.sameQuantities(a, b)
  }

  /** Sets of numbers, where one of the two is written as such. */
  private asIntervals(a: Node, b: Node): Sameness | undefined {
    const { relationsAsSets = false } = this.policy
    const isSet = (node: Node) =>
      node.kind === 'union' || node.kind === 'without' || (node.kind === 'relation' && node.builder)
    const isRelation = (node: Node) =>
      node.kind === 'relation' ||
      (node.kind === 'list' && node.items.every(({ kind }) => kind === 'relation'))
    const mayBe = (node: Node) => isSet(node) || node.kind === 'tuple' || node.kind === 'set'
    const wanted = relationsAsSets
      ? (mayBe(a) || isRelation(a)) &&
        (mayBe(b) || isRelation(b)) &&
        [a, b].some((node) => isSet(node) || isRelation(node))
      : mayBe(a) && mayBe(b) && (isSet(a) || isSet(b))
    if (!wanted) return undefined
    const [left, right] = [intervalsOf(a, this.reader), intervalsOf(b, this.reader)]
    if (left === undefined || right === undefined) {
      const isOneOnly = isSet(a) !== isSet(b) || (relationsAsSets && isRelation(a) !== isRelation(b))
      return isOneOnly ? null : undefined
    }
    return sameIntervals(left, right, this.reader.budget)
  }

  private sameMatrices(a: Node, b: Node): Sameness | undefined {
    if (a.kind !== 'matrix' && b.kind !== 'matrix') return undefined
    if (a.kind === 'matrix' && b.kind === 'matrix') {
      const isLike = a.rows.length === b.rows.length && a.rows[0]!.length === b.rows[0]!.length
      if (a.determinant && b.determinant) return undefined
      if (!isLike || a.determinant !== b.determinant) return false
      return this.inOrder(a.rows.flat(), b.rows.flat())
    }
    // A determinant is a number.
    if ([a, b].some((node) => node.kind === 'matrix' && node.determinant)) return undefined
    // A vector in a column or row is a tuple.
    const [matrix, other] = a.kind === 'matrix' ? [a, b] : [b, a]
    if (matrix.kind !== 'matrix' || other.kind !== 'tuple' || other.brackets.open !== '(') return false
    const isVector = matrix.rows.length === 1 || matrix.rows[0]!.length === 1
    return isVector ? this.inOrder(matrix.rows.flat(), other.items) : false
  }

  private sameCollections(
    a: Node,
    b: Node,
    left: readonly Node[] | undefined,
    right: readonly Node[] | undefined,
  ): Sameness {
    if (left === undefined || right === undefined) {
      // {3} and (3) are not 3, but a list of one is.
      const [only, other] = left === undefined ? [right!, a] : [left, b]
      const isList = (left === undefined ? b : a).kind === 'list'
      return isList && only.length === 1 ? this.same(only[0]!, other) : false
    }
    if (left.length > 200 || right.length > 200) return null
    const kinds = [a.kind, b.kind]
    if (kinds.includes('tuple')) {
      if (a.kind === 'tuple' && b.kind === 'tuple') {
        const isPair = left.length === 2
        const isLike = a.brackets.open === b.brackets.open && a.brackets.close === b.brackets.close
        // (1, 2, 3] is neither a tuple nor an interval.
        const isMixed = [a, b].some(({ brackets }) => (brackets.open === '(') !== (brackets.close === ')'))
        if (!isLike && (isPair || isMixed)) return false
        return this.inOrder(left, right)
      }
      const tuple = a.kind === 'tuple' ? a : b
      const isPlain = tuple.kind === 'tuple' && tuple.brackets.open === '(' && tuple.brackets.close === ')'
      return isPlain && kinds.includes('list') && this.policy.strict !== true
        ? this.inOrder(left, right)
        : false
    }
    if (kinds.includes('set')) return this.asSets(left, right)
    const isSequence = [...left, ...right].some(({ kind }) => kind === 'dots')
    if (isSequence || this.policy.strict === true) return this.inOrder(left, right)
    return this.inAnyOrder(left, right)
  }

  private inOrder(left: readonly Node[], right: readonly Node[]): Sameness {
    if (left.length !== right.length) return false
    let all: Sameness = true
    for (const [place, item] of left.entries()) {
      const same = this.same(item, right[place]!)
      if (same === false) return false
      if (same === null) all = null
    }
    return all
  }

  private inAnyOrder(left: readonly Node[], right: readonly Node[]): Sameness {
    if (left.length !== right.length) return false
    const table = left.map((item) => right.map((other) => this.same(item, other)))
    return paired(table)
  }

  private asSets(left: readonly Node[], right: readonly Node[]): Sameness {
    return this.inAnyOrder(this.distinct(left), this.distinct(right))
  }

  private distinct(items: readonly Node[]): Node[] {
    const kept: Node[] = []
    for (const item of items) if (!kept.some((one) => this.same(one, item) === true)) kept.push(item)
    return kept
  }

  private sameQuantities(a: Node, b: Node): Sameness {
    let [left, right] = [measured(a), measured(b)]
    if (left.unit === undefined) left = spelledUnit(a, right.unit) ?? left
    else if (right.unit === undefined) right = spelledUnit(b, left.unit) ?? right
    const { units = 'optional', percent = 'value' } = this.policy
    if (units !== 'ignore' && left.unit !== right.unit) {
      if (units === 'required' || (left.unit !== undefined && right.unit !== undefined)) return false
    }
    if (percent === 'ignore') return this.sameExpressions(left.bare, right.bare)
    const same = this.sameExpressions(left.whole, right.whole)
    if (same === true || percent !== 'optional' || left.isPercent === right.isPercent) return same
    return this.sameExpressions(left.bare, right.bare)
  }

  private sameExpressions(a: Node, b: Node): Sameness {
    const { tolerance } = this.policy
    return this.valuesOf(a, b, (x, y, budget) => {
      const same = sameValues(x, y, budget)
      if (same === true || tolerance === undefined) return same
      const near = within(x, y, rationalOfTolerance(tolerance), budget)
      return near === true ? true : same
    })
  }

  private valuesOf(
    a: Node,
    b: Node,
    compare: (x: Value, y: Value, budget: Reader['budget']) => Sameness,
  ): Sameness {
    try {
      return compare(evaluate(a, this.reader), evaluate(b, this.reader), this.reader.budget)
    } catch (thrown) {
      // What has no value is like nothing else; it may be like itself, see the comparison of texts.
      if (thrown instanceof NoValue) return null
      throw thrown
    }
  }

  private sameEquations(a: Relation, b: Relation): Sameness {
    const { budget } = this.reader
    const [left, right] = [this.difference(a, 0), this.difference(b, 0)]
    if (left === undefined || right === undefined) return false
    const { same } = multipleOf(left.over, right.over, budget)
    if (same !== true || !(hasSymbols(left.under) || hasSymbols(right.under))) return same
    // Multiplied by its denominators an equation may have more solutions.
    const crossed = [
      mulPoly(left.over, right.under, budget),
      mulPoly(right.over, left.under, budget),
    ] as const
    return multipleOf(...crossed, budget).same === true ? true : null
  }

  /** What one sign of a relation says is zero, or above it. */
  private difference({ items }: Relation, place: number): Value | undefined {
    const { budget } = this.reader
    try {
      const [x, y] = [evaluate(items[place]!, this.reader), evaluate(items[place + 1]!, this.reader)]
      return subtract(x, y, budget)
    } catch (thrown) {
      if (thrown instanceof NoValue) return undefined
      throw thrown
    }
  }

  private sameRelations(a: Relation, b: Relation): Sameness {
    if (a.signs.length !== b.signs.length) return false
    const [left, right] = [this.constraints(a), this.constraints(b)]
    if (left === undefined || right === undefined) return null
    const table = left.map((one) => right.map((other) => this.sameConstraints(one, other)))
    return paired(table)
  }

  /** Each sign as what is above zero (`>`), from zero on (`≥`), zero or not. */
  private constraints(relation: Relation): Constraint[] | undefined {
    const found: Constraint[] = []
    for (const [place, sign] of relation.signs.entries()) {
      const difference = this.difference(relation, place)
      // Multiplied by what may be zero or below, a relation says something else.
      if (difference === undefined || hasSymbols(difference.under)) return undefined
      const below = signOfPoly(difference.under, this.reader.budget)
      if (below === undefined) return undefined
      const poly = below < 0 ? negPoly(difference.over) : difference.over
      const isLess = sign === '<' || sign === '≤'
      found.push({ poly: isLess ? negPoly(poly) : poly, sign: isLess ? (sign === '<' ? '>' : '≥') : sign })
    }
    return found
  }

  private sameConstraints(a: Constraint, b: Constraint): Sameness {
    if (a.sign !== b.sign) return false
    const { same, sign } = multipleOf(a.poly, b.poly, this.reader.budget)
    if (same !== true || (a.sign !== '>' && a.sign !== '≥')) return same
    return sign === undefined ? null : sign === 1
  }
}

/** Whether what stands in the rows can be paired with what stands in the columns, each with one. */
function paired(table: readonly (readonly Sameness[])[]): Sameness {
  const all = (fits: (same: Sameness) => boolean) =>
    maximumMatching(table.length, table.length, (left) =>
      table[left]!.flatMap((same, right) => (fits(same) ? [right] : [])),
    ).every((right) => right !== undefined)
  if (all((same) => same === true)) return true
  return all((same) => same !== false) ? null : false
}

type Relation = Node & { kind: 'relation' }

interface Constraint {
  poly: Poly
  sign: RelationSign
}

function isEquation(node: Node): node is Relation {
  return node.kind === 'relation' && !node.builder && node.signs.length === 1 && node.signs[0] === '='
}

function isInfinite(node: Node): boolean {
  return node.kind === 'infinity' || (node.kind === 'minus' && node.item.kind === 'infinity')
}

function itemsOf(node: Node): readonly Node[] | undefined {
  return node.kind === 'list' || node.kind === 'tuple' || node.kind === 'set' ? node.items : undefined
}

interface Measured {
  whole: Node
  bare: Node
  unit: string | undefined
  isPercent: boolean
}

/** An answer with its unit taken off, and its percent sign. */
function measured(node: Node): Measured {
  if (node.kind === 'quantity') {
    const inner = measured(node.item)
    return {
      ...inner,
      unit: [unitName(node.unit), inner.unit].filter((name) => name !== undefined).join(' '),
    }
  }
  if (node.kind === 'degrees') return { ...measured(node.item), unit: 'degree' }
  if (node.kind === 'percent') return { whole: node, bare: node.item, unit: undefined, isPercent: true }
  if (node.kind === 'minus') {
    const inner = measured(node.item)
    const minus = (item: Node): Node => ({ kind: 'minus', item })
    return { ...inner, whole: minus(inner.whole), bare: minus(inner.bare) }
  }
  return { whole: node, bare: node, unit: undefined, isPercent: false }
}

/** `5 m/s^2` reads as a product of letters; beside an answer in metres per second squared they are that unit. */
function spelledUnit(node: Node, unit: string | undefined): Measured | undefined {
  if (unit === undefined) return undefined
  if (node.kind === 'minus') {
    const inner = spelledUnit(node.item, unit)
    const bare: Node | undefined = inner && { kind: 'minus', item: inner.bare }
    return bare && { whole: bare, bare, unit, isPercent: false }
  }
  const letters = { over: [] as string[], under: [] as string[] }
  const numbers = { over: [] as Node[], under: [] as Node[] }
  const take = (item: Node, side: 'over' | 'under'): boolean => {
    if (item.kind === 'product') return item.items.every((one) => take(one, side))
    if (item.kind === 'quotient')
      return take(item.over, side) && take(item.under, side === 'over' ? 'under' : 'over')
    if (item.kind === 'number') return numbers[side].push(item) > 0
    if (item.kind === 'symbol') return letters[side].push(item.name) > 0
    if (item.kind !== 'power' || item.base.kind !== 'symbol' || item.exponent.kind !== 'number') return false
    const { n, d } = item.exponent.value
    return d === 1n && n > 1n && n < 10n && letters[side].push(`${item.base.name}^${n}`) > 0
  }
  if (!take(node, 'over') || numbers.over.length === 0) return undefined
  if (unitName([letters.over.join(' '), ...letters.under].join('/')) !== unit) return undefined
  const over: Node = { kind: 'product', items: numbers.over }
  const bare: Node =
    numbers.under.length === 0
      ? over
      : { kind: 'quotient', over, under: { kind: 'product', items: numbers.under } }
  return { whole: bare, bare, unit, isPercent: false }
}

/** Words are the same in any case and spacing; a letter in brackets is a letter. */
function sameWords(a: Node, b: Node): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  return left !== undefined && left === right
}

function wordsOf(node: Node): string | undefined {
  if (node.kind === 'symbol') return node.name.toLowerCase()
  if (node.kind === 'constant') return node.name
  if (node.kind !== 'text') return undefined
  return node.text
    .toLowerCase()
    .replace(/(?<!\d)\.|\.(?!\d)/g, ' ')
    .replace(/[\s,;:()"'`{}$\\]+/g, ' ')
    .trim()
}

/** A node with each ± as plus or minus, the same throughout; itself where there is none. */
function withSign(node: Node, sign: number): Node {
  const all = (items: readonly Node[]): readonly Node[] => {
    const signed = items.map((item) => withSign(item, sign))
    return signed.every((item, place) => item === items[place]) ? items : signed
  }
  switch (node.kind) {
    case 'plusminus': {
      const right = withSign(node.right, sign)
      const signed: Node = sign > 0 ? right : { kind: 'minus', item: right }
      return node.left === undefined ? signed : { kind: 'sum', items: [withSign(node.left, sign), signed] }
    }
    case 'sum':
    case 'product':
    case 'tuple': {
      const items = all(node.items)
      return items === node.items ? node : { ...node, items }
    }
    case 'minus':
    case 'quantity':
    case 'degrees':
    case 'percent': {
      const item = withSign(node.item, sign)
      return item === node.item ? node : { ...node, item }
    }
    case 'quotient': {
      const [over, under] = [withSign(node.over, sign), withSign(node.under, sign)]
      return over === node.over && under === node.under ? node : { ...node, over, under }
    }
    case 'function': {
      const args = all(node.args)
      return args === node.args ? node : { ...node, args }
    }
    case 'power': {
      const base = withSign(node.base, sign)
      return base === node.base ? node : { ...node, base }
    }
    default:
      return node
  }
}
