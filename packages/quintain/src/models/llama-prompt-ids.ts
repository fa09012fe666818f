import type { Exchanged } from './exchange.ts'

/**
 * The ids of a prompt that llama.cpp has answered. Its replies tell none, but the server does so when it is asked: it
 * applies its template to the same body (`/apply-template`) and encodes what comes of it (`/tokenize`), by the same code
 * that made the prompt of the reply. Undefined where it does not, and where they are not as many as the reply says its
 * prompt had: a prompt with pictures is more than its text, and behind one address there may be several servers.
 */
export async function llamaPromptIds(
  body: Buffer,
  endpoint: {
    /** Path of the base URL. */
    base: string
    /** Tokens of the prompt, as the reply counts them. */
    counted: number | undefined
    send(path: string, body: Buffer): Promise<Exchanged>
  },
): Promise<number[] | undefined> {
  const { base, counted, send } = endpoint
  if (counted === undefined) return undefined
  // Neither is below `/v1`.
  const root = base.replace(/\/v1$/, '')

  async function ask(path: string, asked: Buffer, field: string): Promise<unknown> {
    const { status, text } = await send(`${root}${path}`, asked)
    return status === 200 ? (JSON.parse(text) as Record<string, unknown>)[field] : undefined
  }

  try {
    const content = await ask('/apply-template', body, 'prompt')
    if (typeof content !== 'string') return undefined
    const asked = JSON.stringify({ content, add_special: true, parse_special: true })
    const ids = await ask('/tokenize', Buffer.from(asked), 'tokens')
    return Array.isArray(ids) && ids.length === counted ? (ids as number[]) : undefined
  } catch {
    // The reply is there, and stays what it is.
    return undefined
  }
}
