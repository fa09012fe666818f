/** A row of a CSV file. Every value is text, as it stood there: `007` and `1e5` are not numbers until somebody says so. */
export interface CsvRow {
  values: Record<string, string>
  /** Line of the file on which the row begins, counted from zero. */
  line: number
}

export interface CsvIssue {
  line: number
  /** Set when a column is wrong, and not a row. */
  column?: string
  message: string
}

export interface Csv {
  columns: string[]
  rows: CsvRow[]
  /** Rows and columns that cannot be right. A row with an issue is not in `rows`. */
  issues: CsvIssue[]
}

/**
 * Comma-separated values with a header line, after RFC 4180 as spreadsheets write it: a byte-order mark, CRLF or LF,
 * quoted values with line breaks and doubled quotes. Blank lines are left out. Never throws for what is in the text.
 *
 * @example parseCsv('input,target\nwhat is 3+3,6\n').rows[0].values // { input: 'what is 3+3', target: '6' }
 */
export function parseCsv(text: string): Csv {
  const issues: CsvIssue[] = []
  const lines = recordsOf(text.startsWith('\ufeff') ? text.slice(1) : text, issues)
  const [header, ...body] = lines
  if (header === undefined) return { columns: [], rows: [], issues }
  const columns = header.values
  columns.forEach((column, position) => {
    if (columns.indexOf(column) < position) {
      issues.push({
        line: header.line,
        column,
        message: `the column ${JSON.stringify(column)} stands there twice`,
      })
    }
  })
  const rows: CsvRow[] = []
  for (const { values, line } of body) {
    if (values.length === columns.length) {
      rows.push({ values: Object.fromEntries(columns.map((column, i) => [column, values[i]!])), line })
    } else {
      issues.push({ line, message: `the row has ${values.length} values, the header ${columns.length}` })
    }
  }
  return { columns, rows, issues: issues.sort((a, b) => a.line - b.line) }
}

interface Line {
  values: string[]
  line: number
}

function recordsOf(text: string, issues: CsvIssue[]): Line[] {
  const found: Line[] = []
  let values: string[] = []
  let value = ''
  let quoted = false
  let wasQuoted = false
  let line = 0
  let first = 0
  let quoteLine = 0
  let sound = true
  const endValue = () => {
    values.push(value)
    value = ''
    wasQuoted = false
  }
  const endRow = () => {
    const blank = values.length === 0 && value === '' && !wasQuoted
    endValue()
    if (!blank && sound) found.push({ values, line: first })
    values = []
    sound = true
  }
  const spoil = (message: string, at = line) => {
    if (sound) issues.push({ line: at, message })
    sound = false
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (char === '\0') spoil('the row contains a NUL')
    if (quoted) {
      if (char === '\n') line += 1
      if (char !== '"') value += char
      else if (text[i + 1] === '"') {
        value += '"'
        i += 1
      } else quoted = false
    } else if (char === '"' && value === '' && !wasQuoted) {
      quoted = true
      wasQuoted = true
      quoteLine = line
    } else if (char === ',') endValue()
    else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[i + 1] === '\n') i += 1
      endRow()
      line += 1
      first = line
    } else if (wasQuoted) {
      spoil('there is text behind a closing quote; a quote inside a value is written ""')
    } else value += char
  }
  if (quoted) spoil('a quote is opened and never closed', quoteLine)
  if (values.length > 0 || value !== '' || wasQuoted) endRow()
  return found
}

/**
 * Values as one line of a CSV file, its LF included; quotes where `parseCsv` needs them.
 *
 * @example csvLine(['a', 'b "c", d']) // 'a,"b ""c"", d"\n'
 */
export function csvLine(values: readonly string[]): string {
  const cells = values.map((value) =>
    /[",\r\n\ufeff]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
  )
  // A single empty value would be a blank line, which readers leave out.
  return `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')}\n`
}
