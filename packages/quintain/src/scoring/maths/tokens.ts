import { canonicalUnit } from '../number-unit.ts'

export type Token =
  | { kind: 'number'; text: string; spaced: boolean }
  | { kind: 'letter'; name: string; spaced: boolean }
  /** A run of letters that is no product of variables: a function, a unit, prose. */
  | { kind: 'word'; text: string; spaced: boolean }
  /** What stands in `\text{…}` and its like. */
  | { kind: 'text'; text: string; spaced: boolean }
  /** `\name`, without the backslash; also signs of Unicode, by the name that LaTeX has for them. */
  | { kind: 'command'; name: string; spaced: boolean }
  | { kind: 'sign'; sign: string; spaced: boolean }

/** Longer answers are no mathematics. */
export const mostSource = 20_000

/** Signs of Unicode by what is read in their place. */
const unicode: Record<string, string> = {
  '−': '-',
  '–': '-',
  '—': '-',
  '﹣': '-',
  '－': '-',
  '＋': '+',
  '＝': '=',
  '，': ',',
  '；': ';',
  '：': ':',
  '（': '(',
  '）': ')',
  '×': '\\times ',
  '·': '\\cdot ',
  '⋅': '\\cdot ',
  '∙': '\\cdot ',
  '∗': '*',
  '÷': '/',
  '∕': '/',
  '⁄': '/',
  '√': '\\surd ',
  '∛': '\\surd[3] ',
  π: '\\pi ',
  '∞': '\\infty ',
  '≤': '\\le ',
  '≥': '\\ge ',
  '≠': '\\ne ',
  '≈': '\\approx ',
  '∈': '\\in ',
  '∪': '\\cup ',
  '∩': '\\cap ',
  '∅': '\\emptyset ',
  '±': '\\pm ',
  '∓': '\\mp ',
  '°': '\\degree ',
  '…': '\\ldots ',
  '⟨': '\\langle ',
  '⟩': '\\rangle ',
  '⌊': '\\lfloor ',
  '⌋': '\\rfloor ',
  '⌈': '\\lceil ',
  '⌉': '\\rceil ',
  '½': '\\frac{1}{2}',
  '⅓': '\\frac{1}{3}',
  '⅔': '\\frac{2}{3}',
  '¼': '\\frac{1}{4}',
  '¾': '\\frac{3}{4}',
  '⅕': '\\frac{1}{5}',
  '⅛': '\\frac{1}{8}',
  '′': "'",
  '’': "'",
  ℝ: '\\reals ',
}
const raisedDigits = '⁰¹²³⁴⁵⁶⁷⁸⁹'
const loweredDigits = '₀₁₂₃₄₅₆₇₈₉'
const greek: Record<string, string> = {
  α: 'alpha',
  β: 'beta',
  γ: 'gamma',
  δ: 'delta',
  ε: 'epsilon',
  ζ: 'zeta',
  η: 'eta',
  θ: 'theta',
  κ: 'kappa',
  λ: 'lambda',
  μ: 'mu',
  ν: 'nu',
  ξ: 'xi',
  ρ: 'rho',
  σ: 'sigma',
  τ: 'tau',
  φ: 'phi',
  χ: 'chi',
  ψ: 'psi',
  ω: 'omega',
}

function withoutUnicode(source: string): string {
  if (/^[\x20-\x7e]*$/.test(source)) return source
  return source
    .replace(
      /[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+/g,
      (run) => `^{${[...run].map((one) => (one === '⁻' ? '-' : raisedDigits.indexOf(one))).join('')}}`,
    )
    .replace(/[₀₁₂₃₄₅₆₇₈₉]+/g, (run) => `_{${[...run].map((one) => loweredDigits.indexOf(one)).join('')}}`)
    .replace(/[\u2000-\u200a\u202f\u00a0\u3000]/g, '\u00a0')
    .replace(/[\u200b\u2060\ufeff\u2061-\u2064]/g, '')
    .replace(/[^\x20-\x7e\u00a0]/gu, (one) => unicode[one] ?? one)
}

/** Commands that only say how things look. */
const styling = new Set(
  (
    'left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle textstyle ' +
    'scriptstyle scriptscriptstyle limits nolimits quad qquad hfill hspace vspace space thinspace noindent ' +
    'angle bf it rm sf tt cal null nobreak allowbreak'
  ).split(' '),
)
/** Commands whose argument is prose. */
const prose = new Set('text textrm textbf textit textsf texttt textnormal mbox hbox textup emph'.split(' '))
/** Commands whose argument is read as if they were not there. */
export const fonts = new Set(
  'mathbf boldsymbol bm mathit mathsf mathtt mathcal mathscr mathfrak pmb boxed fbox ensuremath vec hat tilde overrightarrow'.split(
    ' ',
  ),
)

const grouped = /^\d{1,3}(?:(?:,|'|\{,\}|\\,|\\ |\\!|,\\!|\u00a0| )\d{3})+(?!\d|,\d)(?:\.\d+)?/
const groupedLoose = /^\d{1,3}(?:(?:'|\{,\}|\\,|\\ |\\!|,\\!|\u00a0)\d{3})+(?!\d)(?:\.\d+)?/
const plainNumber = /^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4}(?![\w.]))?/
const connectives = new Set(['and', 'or'])
/** Letters that stand together and mean one thing. */
const names = new Set(
  (
    'sqrt cbrt sin cos tan cot sec csc arcsin arccos arctan asin acos atan sinh cosh tanh ln log lg exp abs max min gcd lcm ' +
    'floor ceil pi infinity infty inf oo degrees degree deg percent union nCr cdot times frac'
  ).split(' '),
)

export interface TokenOptions {
  /** What a comma between digits outside brackets is, where it can be both: `98,100,102`. */
  commas?: 'thousands' | 'lists'
}

/** The tokens of an answer; undefined for what is too long. Never throws. */
export function tokensOf(given: string, { commas = 'thousands' }: TokenOptions = {}): Token[] | undefined {
  if (given.length > mostSource) return undefined
  const source = withoutUnicode(given).replace(/\bper[ -]cent\b/gi, 'percent')
  const isLatex = /[\\{}]/.test(source)
  const tokens: Token[] = []
  let at = 0
  let depth = 0
  let spaced = false
  const push = (token: { kind: Token['kind'] } & Record<string, unknown>) => {
    tokens.push({ ...token, spaced } as Token)
    spaced = false
  }
  while (at < source.length) {
    const rest = source.slice(at, at + 400)
    const sign = rest[0]!
    if (
      /[\s\u00a0$]/.test(sign) &&
      !(sign === '$' && /^\$\s?\d/.test(rest) && !/\$/.test(source.slice(at + 1)))
    ) {
      spaced = true
      at++
      continue
    }
    if (/[\d.]/.test(sign)) {
      const before = tokens.at(-1)
      const follows =
        (before?.kind === 'number' && !spaced) || (before?.kind === 'sign' && before.sign === '_')
      const found =
        (depth === 0 && !follows && commas === 'thousands' ? grouped.exec(rest) : groupedLoose.exec(rest)) ??
        plainNumber.exec(rest)
      if (found !== null) {
        push({ kind: 'number', text: found[0].replace(/[^\d.eE+-]/g, '') })
        at += found[0].length
        continue
      }
      const dots = /^\.{2,}/.exec(rest)
      push(dots === null ? { kind: 'sign', sign: '.' } : { kind: 'command', name: 'ldots' })
      at += dots?.[0].length ?? 1
      continue
    }
    if (sign === '\\') {
      const found = /^\\(?:(operatorname|hspace|vspace)\*|([A-Za-z]+))/.exec(rest)
      const name = found?.[1] ?? found?.[2]
      if (name === undefined) {
        const next = rest[1] ?? ''
        at += 2
        if (',;:! '.includes(next) || next === '(' || next === ')' || next === '[' || next === ']')
          spaced = true
        else if (next === '\\') push({ kind: 'sign', sign: '\\\\' })
        else if (next === '{' || next === '}') {
          depth += next === '{' ? 1 : -1
          push({ kind: 'command', name: next === '{' ? 'lbrace' : 'rbrace' })
        } else if (next === '|') push({ kind: 'sign', sign: '|' })
        else push({ kind: 'sign', sign: next })
        continue
      }
      at += found![0].length
      if (styling.has(name)) {
        if (name === 'hspace' || name === 'vspace')
          at += /^\s*\{[^{}]*\}/.exec(source.slice(at, at + 100))?.[0].length ?? 0
        if (source[at] === '.' && (name === 'left' || name === 'right')) at++
        spaced = true
        continue
      }
      if (prose.has(name) || name === 'mathrm' || name === 'operatorname') {
        const group = /^\s*\{([^{}]*)\}/.exec(source.slice(at, at + 2_000))
        if (group !== null) {
          at += group[0].length
          const text = group[1]!.trim()
          if (!prose.has(name) && names.has(text)) push({ kind: 'word', text })
          else if (!prose.has(name) && /^[A-Za-z]$/.test(text) && tokens.at(-1)?.kind !== 'number')
            push({ kind: 'letter', name: text })
          else if (/^(?:and|or)$/.test(text)) push({ kind: 'word', text })
          else if (text !== '') push({ kind: 'text', text })
          continue
        }
        continue
      }
      push({ kind: 'command', name })
      continue
    }
    if (/[A-Za-z]/.test(sign)) {
      const run = /^[A-Za-z]+/.exec(rest)![0]
      at += lettersOf(run, { isLatex, spaced, before: tokens.at(-1), push })
      continue
    }
    const letter = greek[sign]
    if (letter !== undefined) push({ kind: 'letter', name: letter })
    else {
      if ('([{'.includes(sign)) depth++
      if (')]}'.includes(sign)) depth--
      const long = /^(?:<=|>=|!=|==|<>|\*\*)/.exec(rest)?.[0]
      push({ kind: 'sign', sign: long ?? sign })
      if (long !== undefined) at += long.length - 1
    }
    at += sign.length
  }
  return tokens
}

/** Reads a run of letters, or as much of it as is one thing; says how much. */
function lettersOf(
  run: string,
  {
    isLatex,
    spaced,
    before,
    push,
  }: {
    isLatex: boolean
    spaced: boolean
    before: Token | undefined
    push(token: { kind: Token['kind'] } & Record<string, unknown>): void
  },
): number {
  const lower = run.toLowerCase()
  if (names.has(run) || names.has(lower) || connectives.has(lower)) {
    push({ kind: 'word', text: lower })
    return run.length
  }
  if (run.length === 1) {
    push({ kind: 'letter', name: run })
    return 1
  }
  const afterNumber = before?.kind === 'number' || (before?.kind === 'sign' && '})'.includes(before.sign))
  if (afterNumber && (canonicalUnit(run) !== undefined || (spaced && run.length > 2))) {
    push({ kind: 'word', text: run })
    return run.length
  }
  // "sinx" and "pir" are written by models that leave out signs.
  const known = ['sqrt', 'sin', 'cos', 'tan', 'ln', 'log', 'pi'].find((name) => run.startsWith(name))
  if (known !== undefined && run.length <= known.length + 2) {
    push({ kind: 'word', text: known })
    return known.length
  }
  if (run.length > 3 || (run.length === 3 && !isLatex) || lower === 'no' || lower === 'is') {
    push({ kind: 'word', text: run })
    return run.length
  }
  push({ kind: 'letter', name: run[0]! })
  return 1
}
