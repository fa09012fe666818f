import { wrong } from '../../models/dialects/body-fields.ts'
import { invalid } from './problem.ts'

/**
 * The ids of a list. Throws `ModelProblem` for one that the vocabulary does not have, before it becomes a number of 32 bits,
 * as which it would be another.
 */
export function readTokenIds(list: readonly unknown[], param: string, vocabulary: number): Int32Array {
  const ids = new Int32Array(list.length)
  for (const [at, id] of list.entries()) {
    if (typeof id !== 'number' || !Number.isInteger(id))
      throw wrong(param, 'whole numbers, the ids of tokens')
    if (id < 0 || id >= vocabulary)
      throw invalid(param, `'${param}' holds the id ${id}; ids are from 0 to ${vocabulary - 1}.`)
    ids[at] = id
  }
  return ids
}
