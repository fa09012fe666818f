import { randomBytes } from 'node:crypto'

/** One call as the runner reads it: a line of sizes, the source, and `[sample, item]` as JSON. */
export interface Call {
  bytes: Buffer
  /** What the line of the answer begins with. */
  nonce: string
}

/**
 * Packs a call. Numbers that JSON has no spelling for (NaN, infinities, negative zero, bigint) arrive as what they are, and a
 * half of a surrogate pair as Python has it. Throws what `JSON.stringify` throws: cycles, and nesting that overflows the stack.
 */
export function packCall(source: string, data: readonly [sample: unknown, item: unknown]): Call {
  const nonce = randomBytes(16).toString('hex')
  const special = `q-${randomBytes(8).toString('hex')}`
  let found = false
  const plain = (_key: string, value: unknown): unknown => {
    const text = spelling(value)
    if (text === undefined) return value
    found = true
    return { [special]: text }
  }
  const body = Buffer.from(JSON.stringify(data, plain))
  const code = utf8(source)
  const head = { nonce, source: code.length, data: body.length, ...(found ? { special } : {}) }
  return { nonce, bytes: Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), code, body]) }
}

function spelling(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number') return undefined
  if (Object.is(value, -0)) return '-0'
  return Number.isFinite(value) ? undefined : String(value)
}

/** UTF-8. A half of a surrogate pair is not to be had in a source; it becomes U+FFFD. */
function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8')
}
