import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)

/**
 * A value as JSON, deflated (RFC 1951) and in base64, which a browser opens with `DecompressionStream('deflate-raw')`: no
 * character of it can end the element that it stands in.
 */
export async function packText(json: string): Promise<string> {
  return (await deflate(json, { level: 6 })).toString('base64')
}

/** An element that no browser runs or shows, holding packed data. */
export function dataElement(id: string, packed: string): string {
  return `<script type="application/octet-stream" id="${id}">${packed}</script>\n`
}
