/** Cosine of two vectors, from -1 to 1; 0 where one has no direction. Throws for vectors of two lengths. */
export function cosineOf(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) {
    throw new RangeError(`two embeddings have ${a.length} and ${b.length} numbers; one model gave both?`)
  }
  // By the largest number first, so that squares neither overflow nor vanish.
  const [unitA, unitB] = [scaled(a), scaled(b)]
  let [dot, squareA, squareB] = [0, 0, 0]
  for (const [i, x] of unitA.entries()) {
    const y = unitB[i]!
    dot += x * y
    squareA += x * x
    squareB += y * y
  }
  const norm = Math.sqrt(squareA) * Math.sqrt(squareB)
  const cosine = dot / norm
  return norm > 0 && Number.isFinite(cosine) ? Math.max(-1, Math.min(1, cosine)) : 0
}

function scaled(vector: readonly number[]): readonly number[] {
  let largest = 0
  for (const x of vector) largest = Math.max(largest, Math.abs(x))
  return largest > 0 && Number.isFinite(largest) ? vector.map((x) => x / largest) : vector
}
