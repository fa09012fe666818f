/** A module that a file names: where, and how it is written. */
export interface Import {
  specifier: string
  /** Line, counted from one. */
  line: number
}

interface Token {
  kind: 'word' | 'text' | 'mark'
  value: string
  line: number
}

/**
 * Every module that a TypeScript file names: imports and re-exports, type-only ones, `import()` in code and in
 * types, `require()`. What stands in comments, strings and templates is not code. The compiler's own scanner would be
 * the natural way; TypeScript 7 offers none to JavaScript.
 */
export function importsOf(source: string): Import[] {
  const tokens = tokensOf(source)
  const found: Import[] = []
  const add = (token: Token | undefined) => {
    if (token?.kind === 'text') found.push({ specifier: token.value, line: token.line })
  }
  for (let i = 0; i < tokens.length; i++) {
    const { kind, value } = tokens[i]!
    if (kind !== 'word' || isMember(tokens, i)) continue
    const next = tokens[i + 1]
    if (value === 'import' && next?.kind === 'text') add(next)
    else if ((value === 'import' || value === 'require') && next?.value === '(') add(tokens[i + 2])
    else if (value === 'import' || value === 'export') add(afterFrom(tokens, i + 1))
  }
  return found
}

function isMember(tokens: readonly Token[], i: number): boolean {
  return i > 0 && tokens[i - 1]!.kind === 'mark' && tokens[i - 1]!.value === '.'
}

/** The text after `from` in `import …` or `export { … }` and `export * …`; undefined for other exports. */
function afterFrom(tokens: readonly Token[], start: number): Token | undefined {
  let i = start
  if (tokens[i]?.value === 'type' || tokens[i]?.value === 'defer') i++
  for (let depth = 0; i < tokens.length; i++) {
    const { kind, value } = tokens[i]!
    if (kind === 'word' && value === 'from' && depth === 0 && tokens[i + 1]?.kind === 'text')
      return tokens[i + 1]
    if (kind === 'mark' && value === '{') depth++
    else if (kind === 'mark' && value === '}') depth--
    // A clause of names holds words, commas, braces and stars; anything else is another statement.
    else if (kind === 'mark' && value !== ',' && value !== '*') return undefined
    else if (kind === 'text' && depth === 0) return undefined
    else if (kind === 'word' && declaring.has(value) && depth === 0) return undefined
  }
  return undefined
}

const declaring = new Set([
  'const',
  'let',
  'var',
  'function',
  'class',
  'interface',
  'enum',
  'async',
  'abstract',
  'declare',
])

/** Words after which a slash begins a regular expression. */
const beforeExpression = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'delete',
  'throw',
  'new',
  'await',
  'yield',
])

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  let i = 0
  /** For each open template, the depth of braces inside its `${`. */
  const templates: number[] = []
  const skipTo = (end: number) => {
    for (; i < end; i++) if (source[i] === '\n') line++
  }
  const template = () => {
    while (i < source.length) {
      if (source[i] === '\\') skipTo(i + 2)
      else if (source[i] === '`') {
        i++
        return
      } else if (source.startsWith('${', i)) {
        i += 2
        templates.push(0)
        return
      } else skipTo(i + 1)
    }
  }
  while (i < source.length) {
    const char = source[i]!
    if (source.startsWith('//', i) || (i === 0 && source.startsWith('#!'))) {
      const end = source.indexOf('\n', i)
      skipTo(end < 0 ? source.length : end)
    } else if (source.startsWith('/*', i)) {
      const end = source.indexOf('*/', i + 2)
      skipTo(end < 0 ? source.length : end + 2)
    } else if (char === '"' || char === "'") {
      let end = i + 1
      while (end < source.length && source[end] !== char && source[end] !== '\n')
        end += source[end] === '\\' ? 2 : 1
      tokens.push({ kind: 'text', value: source.slice(i + 1, end), line })
      skipTo(end + 1)
    } else if (char === '`') {
      i++
      // A template without places is a text, but no import may name its module so.
      tokens.push({ kind: 'mark', value: '`', line })
      template()
    } else if (char === '/' && slashBeginsExpression(tokens.at(-1))) {
      skipTo(endOfExpression(source, i))
      tokens.push({ kind: 'mark', value: '/', line })
    } else if (/[\w$\u0080-\uffff#]/.test(char)) {
      let end = i + 1
      while (end < source.length && /[\w$\u0080-\uffff]/.test(source[end]!)) end++
      tokens.push({ kind: 'word', value: source.slice(i, end), line })
      i = end
    } else {
      if (!/\s/.test(char)) {
        const depth = templates.length - 1
        if (char === '{' && depth >= 0) templates[depth]!++
        if (char === '}' && depth >= 0 && templates[depth]!-- === 0) {
          templates.pop()
          i++
          template()
          continue
        }
        tokens.push({ kind: 'mark', value: char, line })
      }
      skipTo(i + 1)
    }
  }
  return tokens
}

function slashBeginsExpression(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return beforeExpression.has(before.value)
  return before.kind === 'mark' && ![')', ']', '}', '`', '/'].includes(before.value)
}

function endOfExpression(source: string, start: number): number {
  let inClass = false
  for (let i = start + 1; i < source.length; i++) {
    const char = source[i]
    if (char === '\\') i++
    else if (char === '\n') return i
    else if (char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === '/' && !inClass) return i + 1
  }
  return source.length
}
