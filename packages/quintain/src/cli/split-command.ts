import { QuintainError } from '../core/index.ts'

/**
 * A command line as program and arguments, split as a shell would without running one: white space parts words, quotes
 * keep them together, and a backslash takes the next character as it is (inside double quotes before `"` and `\` only).
 * Throws `usage` for an empty line and for a quote that is not closed.
 *
 * @example splitCommand(`node 'my agent.js' --fast`) // ['node', 'my agent.js', '--fast']
 */
export function splitCommand(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    const next = line[at + 1]
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else if (char === '\\' && quote === '"' && (next === '"' || next === '\\')) word += line[++at]!
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === '\\' && next !== undefined) word = (word ?? '') + line[++at]!
    else word = (word ?? '') + char
  }
  if (quote !== undefined)
    throw new QuintainError(
      'usage',
      `The command ${JSON.stringify(line)} has a quote (${quote}) that is not closed.`,
    )
  if (word !== undefined) words.push(word)
  if (words.length === 0) throw new QuintainError('usage', 'The command of the agent is empty.')
  return words
}
