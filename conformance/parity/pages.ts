import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Pages that hold the table, between two comments. */
export const pages = ['README.md', 'docs/parity-doors.md'] as const

const begin = '<!-- parity: `node conformance/parity/check.ts` prints this table -->'
const end = '<!-- end of parity -->'

/** The table that a page holds; undefined for a page without one. */
export function tableOf(page: (typeof pages)[number]): string | undefined {
  const text = readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8')
  const [, behind] = text.split(begin)
  return behind?.split(end)[0]?.trim()
}
