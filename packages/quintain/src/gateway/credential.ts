import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Looks like the keys that programs know, so that what hides keys from logs hides it too. */
const prefix = 'sk-quintain-'
const handleBytes = 12
const handleLength = (handleBytes * 4) / 3

/** A handle and the credential that goes with it. */
export interface Issued {
  handle: string
  apiKey: string
}

/**
 * Credentials of one gateway: the handle of an attempt, which its address shows, and 256 bits that follow from it and a
 * key that never leaves this object. So one that is no longer in use is told from one that never was, with nothing kept.
 */
export class Credentials {
  private readonly key = randomBytes(32)

  issue(): Issued {
    const handle = randomBytes(handleBytes).toString('base64url')
    return { handle, apiKey: `${prefix}${handle}${this.sign(handle)}` }
  }

  /** The handle that a credential names. It proves nothing. */
  handleIn(apiKey: string): string {
    return apiKey.slice(prefix.length, prefix.length + handleLength)
  }

  /** Whether this gateway issued a credential, in use or not. */
  issued(apiKey: string): boolean {
    const handle = this.handleIn(apiKey)
    return sameText(apiKey, `${prefix}${handle}${this.sign(handle)}`)
  }

  private sign(handle: string): string {
    return createHmac('sha256', this.key).update(handle).digest('base64url')
  }
}

/** Compares in a time that tells nothing of where texts of one length differ. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
