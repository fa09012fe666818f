const plain = /^\s*([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d*))?\s*$/

/**
 * Whether two plain decimals are the same number; undefined where one of them is something else. Most answers are such
 * numbers, and to compare their digits takes no parser.
 */
export function samePlainNumber(a: string, b: string): boolean | undefined {
  if (a.length > 400 || b.length > 400) return undefined
  const left = digitsOf(a)
  if (left === undefined) return undefined
  const right = digitsOf(b)
  return right === undefined ? undefined : left === right
}

function digitsOf(text: string): string | undefined {
  const parts = plain.exec(text)
  if (parts === null) return undefined
  const [, sign, whole = '', decimals = ''] = parts
  const integer = whole.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  const fraction = decimals.replace(/0+$/, '')
  const magnitude = fraction === '' ? integer : `${integer}.${fraction}`
  return sign === '-' && magnitude !== '0' ? `-${magnitude}` : magnitude
}
