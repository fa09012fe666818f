import type { Box, FileRefusal } from '../core/index.ts'
import { parseTestLog, type TestLog, type TestLogDialect } from './test-log.ts'

/** A structured result that a suite writes. */
export interface SuiteResults {
  /** Where, in the box: absolute, or from the folder that the command starts in. Nothing may be there before. */
  path: string
  dialect: TestLogDialect
  /** A larger file is no evidence; 64 MiB when absent. */
  maxBytes?: number
}

const mebibyte = 1 << 20

/** Reads the results that a suite has left in a box, or says why it cannot. */
export async function readResults(
  box: Box,
  path: string,
  { dialect, maxBytes = 64 * mebibyte }: SuiteResults,
): Promise<TestLog | FileRefusal> {
  const found = await box.read(path, { maxBytes })
  return found.ok ? parseTestLog(resultsText(found.data), dialect) : found.reason
}

/**
 * Text of a result file: by its byte order mark, by the way that `<?` is written, else by the encoding that an XML declaration
 * names, else UTF-8. Bytes that are none in it become U+FFFD; a name of an encoding that does not exist says nothing.
 */
export function resultsText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes)
}

function encodingOf(bytes: Uint8Array): string {
  const [a, b] = bytes
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0 && b === 0x3c) return 'utf-16be'
  if (a === 0x3c && b === 0) return 'utf-16le'
  if (a !== 0x3c) return 'utf-8'
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1')
  const named = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1]
  // What is read here byte by byte is not UTF-16, whatever it says of itself.
  if (named === undefined || /^(?:utf-?16|ucs-?2|iso-10646)/i.test(named)) return 'utf-8'
  try {
    return new TextDecoder(named).encoding
  } catch {
    return 'utf-8'
  }
}
