/** Numbers that the gradients of all lanes may hold together: 64 MiB. */
const mostNumbers = 2 ** 24
const mostLanes = 8
/** With fewer tokens a lane costs more than it computes. */
const leastTokens = 256

/**
 * Lanes in which the gradient of a policy is gathered: data are shared out between lanes and not between threads, and lanes
 * are summed in their order, so that the sums are the same bits on any number of threads. A power of two.
 */
export function lanesOf(parameters: number): number {
  return powerOfTwo(mostNumbers / parameters, mostLanes)
}

/** Of those, how many take a part of so many tokens. */
export function lanesFor(tokens: number, lanes: number): number {
  return powerOfTwo(tokens / leastTokens, lanes)
}

/** The largest that is not over `value`, from 2 to `most`. */
function powerOfTwo(value: number, most: number): number {
  let power = 2
  while (power * 2 <= Math.min(value, most)) power *= 2
  return power
}
