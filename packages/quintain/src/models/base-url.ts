import { QuintainError } from '../core/errors.ts'

/** Where a client sends its calls, and the credentials that stood in the address. */
export interface Endpoint {
  origin: string
  /** Path before that of the dialect, without a slash at its end. */
  base: string
  /** Query of the base URL, with its question mark. */
  search: string
  headers: Record<string, string>
  secrets: string[]
}

/** Reads a base URL, with or without the dialect's own path at its end. Throws `options_invalid`. */
export function readBaseUrl(text: string, dialectPath: string): Endpoint {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new QuintainError(
      'options_invalid',
      `The base URL is no http(s) address; write it like http://127.0.0.1:8000/v1.`,
      { facts: { option: 'baseUrl' } },
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  const base = path.endsWith(dialectPath) ? path.slice(0, -dialectPath.length) : path
  const secrets = [...url.searchParams].flatMap(([name, value]) =>
    /key|token|secret|sig/i.test(name) ? [value] : [],
  )
  const headers: Record<string, string> = {}
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
    secrets.push(pair, decodeURIComponent(url.password), headers['authorization'])
  }
  return { origin: url.origin, base, search: url.search, headers, secrets }
}
