/** What says nothing of why: frames of a stack, marks under a line of code, and how Node and npm end whatever they say. */
const noise =
  /^(?:at .+|\^+|\.+|[{}\]]|node:internal\S*|Node\.js v\d\S*|npm (?:error|ERR!)(?: \d+)?|npm (?:error|ERR!) A complete log .*|.*[\\/]_logs[\\/].*)$/i

const mostLines = 4
const mostLength = 400

/** The last lines of a program's stderr that may say why it ended, without the values that it was given in secret. */
export function lastWords(stderr: string, secrets: readonly string[]): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !noise.test(line))
    .slice(-mostLines)
  let text = lines.join(' / ')
  for (const secret of secrets) if (secret.length >= 6) text = text.replaceAll(secret, '[withheld]')
  return text.length > mostLength ? `…${text.slice(1 - mostLength)}` : text
}
