/**
 * Pairs as many left with right as can be paired: a maximum matching of a bipartite graph, by augmenting paths (Kuhn
 * 1955). A greedy pairing would spend a partner that fits many on one that has another. `fits` gives, for each left,
 * the positions of the right ones that it may have. The result has the position that each left got, or undefined.
 */
export function maximumMatching(
  lefts: number,
  rights: number,
  fits: (left: number) => Iterable<number>,
): (number | undefined)[] {
  const leftOf: (number | undefined)[] = Array.from({ length: rights }, () => undefined)
  const rightOf: (number | undefined)[] = Array.from({ length: lefts }, () => undefined)
  // Without recursion: a path may be as long as there are pairs.
  for (let start = 0; start < lefts; start++) {
    const cameFrom = new Map<number, number>()
    const open = [start]
    let free: number | undefined
    while (open.length > 0 && free === undefined) {
      const left = open.pop()!
      for (const right of fits(left)) {
        if (cameFrom.has(right)) continue
        cameFrom.set(right, left)
        const holder = leftOf[right]
        if (holder === undefined) {
          free = right
          break
        }
        open.push(holder)
      }
    }
    while (free !== undefined) {
      const left: number = cameFrom.get(free)!
      const before: number | undefined = rightOf[left]
      leftOf[free] = left
      rightOf[left] = free
      free = before
    }
  }
  return rightOf
}
