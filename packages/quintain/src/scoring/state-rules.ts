import { QuintainError } from '../core/index.ts'
import { type ValueType, valueTypes } from './value-type.ts'

/**
 * A place in a state: names joined by dots, or a list of names where a name has a dot itself. `*` stands for any one
 * name or position of a list, `**` for any number of them.
 *
 * @example 'orders.*.updated_at'
 */
export type StatePath = string | readonly string[]

/** What two states need not agree on, and how their values are to be read. Nothing is ignored that is not named. */
export interface StateRules {
  /** Places that are not compared, with all that is in them. */
  ignore?: readonly StatePath[]
  /** Lists whose order says nothing. How often an element is there still counts. */
  unordered?: readonly StatePath[]
  /** Types of values. Values without one are equal when they are the same JSON value: 10 equals 10.0, and neither "10" nor true. */
  types?: Readonly<Record<string, ValueType>>
}

interface Rule {
  is: 'ignore' | 'unordered' | ValueType
  /** The name of the next step, and what is left of the rule when it has been taken; nothing where the rule is. */
  step?: { name: string; rest: Rule }
}

/** Rules that still apply below some place. */
export type ActiveRules = readonly Rule[]

/** The rules at the root. Throws `usage` for a type that does not exist. */
export function compileRules({ ignore = [], unordered = [], types = {} }: StateRules): ActiveRules {
  const rule = (path: StatePath, is: Rule['is']): Rule =>
    (typeof path === 'string' ? path.split('.') : path).reduceRight<Rule>(
      (rest, name) => ({ is, step: { name, rest } }),
      { is },
    )
  return [
    ...ignore.map((path) => rule(path, 'ignore')),
    ...unordered.map((path) => rule(path, 'unordered')),
    ...Object.entries(types).map(([path, type]) => {
      if (valueTypes.includes(type)) return rule(path, type)
      throw new QuintainError(
        'usage',
        `The state has no type "${String(type)}" for "${path}"; there are ${valueTypes.join(', ')}.`,
        { facts: { path, type } },
      )
    }),
  ]
}

/** The rules below a name. */
export function rulesBelow(rules: ActiveRules, name: string): ActiveRules {
  if (rules.length === 0) return rules
  const below: Rule[] = []
  for (const rule of rules) {
    // What begins with `**` stays, and is taken without it as well.
    for (let at = rule; at.step !== undefined; at = at.step.rest) {
      const { name: wanted, rest } = at.step
      if (wanted === '**') {
        below.push(at)
        continue
      }
      if (wanted === '*' || wanted === name) below.push(rest)
      break
    }
  }
  return below
}

/** What is said of the very place that the rules have come to. */
export function ruleHere(rules: ActiveRules): {
  ignore: boolean
  unordered: boolean
  type: ValueType | undefined
} {
  let ignore = false
  let unordered = false
  let type: ValueType | undefined
  for (const { is, step: next } of rules) {
    let step = next
    while (step?.name === '**') step = step.rest.step
    if (step !== undefined) continue
    if (is === 'ignore') ignore = true
    else if (is === 'unordered') unordered = true
    else type = is
  }
  return { ignore, unordered, type }
}
