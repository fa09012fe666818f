import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Looks like the keys that programs know, so that what hides keys from logs hides it too. */
const prefix = 'sk-quintain-'
const handleBytes = 12
const handleLength = (handleBytes * 4) / 3

/**
 * Credentials of one gateway: the handle of an attempt, which its address shows, and 256 bits that follow from it and a
 * key that never leaves this object. So one that is no longer in use is told from one that never was, with nothing kept.
 */
export class Credentials {
  private readonly key = randomBytes(32)

  issue(): { handle: string; apiKey: string } {
    const handle = randomBytes(handleBytes).toString('base64url')
    return { handle, apiKey: `${prefix}${handle}${this.sign(handle).toString('base64url')}` }
  }

  /** The handle of a credential that this gateway issued. */
  handleOf(apiKey: string | undefined): string | undefined {
    if (apiKey === undefined || !apiKey.startsWith(prefix)) return undefined
    const handle = apiKey.slice(prefix.length, prefix.length + handleLength)
    const proof = Buffer.from(apiKey.slice(prefix.length + handleLength), 'base64url')
    const right = this.sign(handle)
    return proof.length === right.length && timingSafeEqual(proof, right) ? handle : undefined
  }

  private sign(handle: string): Buffer {
    return createHmac('sha256', this.key).update(handle).digest()
  }
}
