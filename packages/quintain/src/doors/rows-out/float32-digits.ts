/** Float32 numbers for JSON: nine digits tell any two apart, and more would only be the digits of a Float64. */
export function float32Digits(values: ArrayLike<number>): number[] {
  return Array.from(values, (value) => Number(value.toPrecision(9)))
}
