import { type Extraction, none } from './extraction.ts'
import { withoutStyling } from './number-styling.ts'

/** The last line that is not empty, without styling. A text that was cut may have cut it. */
export function lastLine(text: string, truncated: boolean): Extraction {
  const lines = text.split('\n').map((line) => line.trim())
  const at = lines.findLastIndex((line) => line !== '' && !/^(?:```|~~~)/.test(line))
  if (at < 0) return none('no_candidate')
  if (truncated && at === lines.length - 1) return none('truncated')
  const answer = withoutStyling(lines[at]!).trim()
  return answer === '' ? none('no_candidate') : { answer }
}

const bullet = /^[ \t]{0,8}(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+(.+)$/

/**
 * The items of the last list: lines with bullets or numbers that follow each other, else the last line taken apart at its
 * commas, semicolons and "and", where it has some. What is cut off at the end does not count.
 */
export function lastList(text: string, truncated: boolean): Extraction<string[]> {
  const lines = text.split('\n')
  const end = lines.findLastIndex((line) => bullet.test(line))
  if (end >= 0) {
    let start = end
    while (start > 0 && (bullet.test(lines[start - 1]!) || lines[start - 1]!.trim() === '')) start--
    const items = lines.slice(start, end + 1).flatMap((line) => bullet.exec(line)?.[1] ?? [])
    const isCut = truncated && lines.slice(end + 1).every((line) => line.trim() === '')
    const whole = (isCut ? items.slice(0, -1) : items).map((item) => withoutStyling(item).trim())
    return whole.length === 0 ? none('truncated') : { answer: whole }
  }
  const last = lastLine(text, truncated)
  if (last.answer === null) return last
  const said = last.answer.replace(/^[^:\n]{0,80}:[ \t]+/, '').replace(/[.!]$/, '')
  const items = said
    .split(/\s*(?:[,;]\s*(?:and\s+|or\s+)?|\s+and\s+)/)
    .map((item) => item.trim())
    .filter((item) => item !== '')
  return items.length < 2 ? none('no_candidate') : { answer: items }
}
