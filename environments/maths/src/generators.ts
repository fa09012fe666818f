import { inequalities, linear, quadratic, remainders, systems } from './generators-algebra.ts'
import { complex, logarithms, modular, rationals, surds } from './generators-numbers.ts'
import { calculus, counting, geometry, matrices, probability, sequences } from './generators-structures.ts'
import type { Generator } from './problem.ts'

/** Every generator by name, in the order in which tasks take turns. */
export const generators = {
  rationals,
  surds,
  linear,
  quadratic,
  systems,
  remainders,
  inequalities,
  calculus,
  counting,
  probability,
  modular,
  geometry,
  logarithms,
  complex,
  matrices,
  sequences,
} satisfies Record<string, Generator>

export type GeneratorName = keyof typeof generators
export const generatorNames = Object.keys(generators) as GeneratorName[]
