/** An error that a formula gave, such as `#DIV/0!`. */
export interface CellError {
  error: string
}

/** The calculated value of a cell; null is a blank cell. */
export type CellValue = null | boolean | number | string | CellError

/** Day numbers count from 1900 (Excel's default) or from 1904 (old Macintosh files). */
export type DateSystem = '1900' | '1904'

const dayMs = 86_400_000
const isoDay = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?$/

/**
 * The serial number of a day written as `2026-03-19` or `2026-03-19T12:00`; undefined for all else, and for days
 * before the system's first. Excel's day 60 is 29 February 1900, which never was: earlier days are one less.
 */
export function dateSerial(text: string, system: DateSystem = '1900'): number | undefined {
  const parts = isoDay.exec(text)
  if (parts === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0))
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return undefined
  if (system === '1904') {
    const serial = (at.getTime() - Date.UTC(1904, 0, 1)) / dayMs
    return serial < 0 ? undefined : serial
  }
  const serial = (at.getTime() - Date.UTC(1899, 11, 30)) / dayMs
  if (serial >= 61) return serial
  return serial - 1 >= 1 ? serial - 1 : undefined
}

/** Text of a cell as it is stored: a number keeps the digits of the file, which a double may not hold. */
export function cellText(cell: { type: string; stored: string }): string {
  if (cell.type === 'b') return cell.stored === '1' ? 'TRUE' : cell.stored === '0' ? 'FALSE' : cell.stored
  return cell.stored
}
