import { rational } from './rational.ts'
import type { Brackets, Node, RelationSign } from './syntax.ts'
import { fonts, mostSource, type Token, type TokenOptions, tokensOf } from './tokens.ts'
import { Unreadable } from './unreadable.ts'
import {
  basesByName,
  constants,
  functions,
  inverses,
  isGreek,
  operators,
  relations,
  scales,
  startsWithCommand,
} from './vocabulary.ts'
import { decimal, repeating } from './written-number.ts'

/** Brackets, fractions and roots within each other. */
const mostDepth = 120
const mostTokens = 6_000

/** An answer as it is written; undefined for one that cannot be read. Never throws. */
export function parseAnswer(source: string, options: TokenOptions = {}): Node | undefined {
  if (source.length > mostSource) return undefined
  const tokens = tokensOf(trimmed(source), options)
  if (tokens === undefined || tokens.length === 0 || tokens.length > mostTokens) return undefined
  try {
    return new Parser(tokens).answer()
  } catch (thrown) {
    if (thrown instanceof Unreadable) return undefined
    throw thrown
  }
}

/** Without what ends a sentence. */
function trimmed(source: string): string {
  const text = source.trim()
  let end = text.length
  while (end > 0 && /[\s$]/.test(text[end - 1]!)) end--
  const closing = text.slice(end - 2, end)
  if (closing === '\\]' || closing === '\\)') end -= 2
  let start = end
  while (start > 0 && /[\s.,;:]/.test(text[start - 1]!)) start--
  // Three dots are no end of a sentence.
  if (text.slice(start, end).includes('..')) return text
  return text.slice(0, start) + text.slice(end)
}

class Parser {
  private readonly tokens: Token[]
  private at = 0
  private depth = 0
  /** Bars that are open: inside, a bar closes. */
  private bars = 0

  constructor(tokens: Token[]) {
    this.tokens = tokens
  }

  answer(): Node {
    if (this.isProse()) return { kind: 'text', text: this.wordsFrom(0) }
    const label = this.namedInWords()
    const node = this.list()
    if (this.at < this.tokens.length) throw new Unreadable()
    if (label === undefined) return node
    const name: Node = { kind: 'text', text: label }
    return { kind: 'relation', items: [name, node], signs: ['='], builder: false }
  }

  /** An answer in words: it begins with one that names no function and no number. */
  private isProse(): boolean {
    const first = this.tokens.find(
      (token) =>
        !(token.kind === 'sign' && '({['.includes(token.sign)) &&
        !(token.kind === 'command' && fonts.has(token.name)),
    )
    if (first === undefined || (first.kind !== 'text' && first.kind !== 'word')) return false
    if (first.kind === 'word' && (functions.get(first.text) !== undefined || constants.has(first.text)))
      return false
    // Words before a sign of equality are a label.
    return !this.tokens.some((token) => token.kind === 'sign' && token.sign === '=')
  }

  /** Words before a sign of equality, such as "Area = 5". */
  private namedInWords(): string | undefined {
    const end = this.tokens.findIndex((token) => token.kind === 'sign' && token.sign === '=')
    const before = this.tokens.slice(0, Math.max(0, end))
    const isWords = before.every(({ kind }) => kind === 'word' || kind === 'text' || kind === 'letter')
    const isKnown = before.some((token) => token.kind === 'word' && functions.get(token.text) !== undefined)
    if (!isWords || isKnown || !before.some(({ kind }) => kind === 'word' || kind === 'text'))
      return undefined
    this.at = end + 1
    return before.map(wordOf).join(' ')
  }

  private wordsFrom(start: number): string {
    return this.tokens.slice(start).map(wordOf).join(' ').replace(/\s+/g, ' ').trim()
  }

  private peek(offset = 0): Token | undefined {
    return this.tokens[this.at + offset]
  }

  private isSign(sign: string, offset = 0): boolean {
    const token = this.peek(offset)
    return token?.kind === 'sign' && token.sign === sign
  }

  private isCommand(name: string, offset = 0): boolean {
    const token = this.peek(offset)
    return token?.kind === 'command' && token.name === name
  }

  private isWord(text: string): boolean {
    const token = this.peek()
    return (token?.kind === 'word' && token.text === text) || (token?.kind === 'text' && token.text === text)
  }

  private take(sign: string): boolean {
    if (!this.isSign(sign)) return false
    this.at++
    return true
  }

  private expect(name: string): void {
    const token = this.peek()
    const is =
      (token?.kind === 'sign' && token.sign === name) || (token?.kind === 'command' && token.name === name)
    if (!is) throw new Unreadable()
    this.at++
  }

  private nested<T>(read: () => T): T {
    if (++this.depth > mostDepth) throw new Unreadable()
    try {
      return read()
    } finally {
      this.depth--
    }
  }

  /** Items apart by commas, "and", "or". */
  private list(): Node {
    return this.nested(() => {
      const items = [this.item()]
      for (;;) {
        const comma = this.take(',') || this.take(';')
        const word = this.takeConnective()
        if (!comma && !word) break
        if (this.at >= this.tokens.length) throw new Unreadable()
        items.push(this.item())
      }
      return items.length === 1 ? items[0]! : { kind: 'list', items }
    })
  }

  private takeConnective(): boolean {
    if (!this.isWord('and') && !this.isWord('or')) return false
    this.at++
    return true
  }

  private item(): Node {
    if (
      this.isCommand('ldots') ||
      this.isCommand('cdots') ||
      this.isCommand('dots') ||
      this.isCommand('dotsc')
    ) {
      this.at++
      return { kind: 'dots' }
    }
    return this.relation()
  }

  private relation(): Node {
    const items = [this.ratio()]
    const signs: RelationSign[] = []
    for (;;) {
      const token = this.peek()
      const name = token?.kind === 'sign' ? token.sign : token?.kind === 'command' ? token.name : undefined
      const sign = name === undefined || !relations.has(name) ? undefined : relations.get(name)
      if (sign === undefined) break
      this.at++
      signs.push(sign)
      items.push(this.ratio())
    }
    if (signs.length === 0) return items[0]!
    // A list after a label belongs to it: n = 3, 4, 5.
    const last = items.at(-1)!
    if (signs.length === 1 && signs[0] === '=' && this.isSign(',') && this.depth === 1) {
      const rest = this.restOfList(last)
      if (rest !== undefined) return { kind: 'relation', items: [items[0]!, rest], signs, builder: false }
    }
    return { kind: 'relation', items, signs, builder: false }
  }

  /** The items of a list after its first, where none of them is a relation itself. */
  private restOfList(first: Node): Node | undefined {
    const start = this.at
    const hasMore = this.tokens
      .slice(start)
      .some(
        (token) =>
          (token.kind === 'sign' && relations.has(token.sign)) ||
          (token.kind === 'command' && relations.has(token.name)),
      )
    if (hasMore) return undefined
    const items = [first]
    while (this.take(',') || this.take(';') || this.takeConnective()) {
      this.takeConnective()
      items.push(this.item())
    }
    return { kind: 'list', items }
  }

  private ratio(): Node {
    const items = [this.sets()]
    while (this.isSign(':') || this.isCommand('colon')) {
      this.at++
      items.push(this.sets())
    }
    return items.length === 1 ? items[0]! : { kind: 'ratio', items }
  }

  private sets(): Node {
    let left = this.withUnit()
    for (;;) {
      const kind =
        this.isCommand('cup') || this.isWord('union')
          ? 'union'
          : this.isCommand('cap')
            ? 'intersection'
            : this.isCommand('setminus') || this.isCommand('backslash')
              ? 'without'
              : undefined
      if (kind === undefined) return left
      this.at++
      const right = this.withUnit()
      const items = left.kind === kind && kind !== 'without' ? [...left.items, right] : [left, right]
      left = { kind, items }
    }
  }

  /** A value with what it is measured in, before or behind it. */
  private withUnit(): Node {
    const currency = this.currency()
    const item = this.sum()
    if (currency !== undefined) return { kind: 'quantity', item, unit: currency }
    const scaled = this.scaled(item)
    const unit = this.unit()
    if (scaled !== item) return unit === undefined ? scaled : { kind: 'quantity', item: scaled, unit }
    return unit === undefined ? item : { kind: 'quantity', item, unit }
  }

  /** 5 million is a number; words that would make another of it are not passed over as units. */
  private scaled(item: Node): Node {
    let value = item
    for (;;) {
      const token = this.peek()
      if (token === undefined || (token.kind !== 'word' && token.kind !== 'text')) return value
      const [first = ''] = token.text.toLowerCase().split(/[^a-z]+/)
      if (operators.has(first)) throw new Unreadable()
      const scale = scales.get(token.text.toLowerCase())
      if (scale === undefined) return value
      this.at++
      value = times(value, { kind: 'number', value: rational(scale) })
    }
  }

  private currency(): string | undefined {
    const token = this.peek()
    if (token?.kind !== 'sign' || !'$€£¥₹'.includes(token.sign)) return undefined
    this.at++
    return token.sign
  }

  private unit(): string | undefined {
    const start = this.at
    const words: string[] = []
    for (;;) {
      const token = this.peek()
      if (token === undefined) break
      const isText =
        token.kind === 'text' || (token.kind === 'word' && !['and', 'or', 'union'].includes(token.text))
      if (isText && !(token.kind === 'text' && ['and', 'or'].includes(token.text))) words.push(wordOf(token))
      else if (words.length > 0 && this.isSign('^')) {
        this.at++
        const exponent = this.argument()
        if (exponent.kind !== 'number') throw new Unreadable()
        words.push(`^${exponent.value.n}`)
        continue
      } else if (words.length > 0 && this.isSign('/')) words.push('/')
      else if (words.length > 0 && words.at(-1) === '/' && token.kind === 'letter') words.push(token.name)
      else if (words.length === 0 && token.kind === 'sign' && '€£¥₹'.includes(token.sign))
        words.push(token.sign)
      else break
      this.at++
    }
    if (words.length === 0) {
      this.at = start
      return undefined
    }
    return words.join(' ')
  }

  private sum(): Node {
    return this.nested(() => {
      const items: Node[] = []
      let plusminus: Node | undefined
      if (this.isCommand('pm') || this.isCommand('mp')) {
        const isLower = this.isCommand('mp')
        this.at++
        plusminus = { kind: 'plusminus', left: undefined, right: this.afterSign(isLower) }
        items.push(plusminus)
      } else items.push(this.product())
      for (;;) {
        if (this.take('+')) items.push(this.product())
        else if (this.take('-')) items.push({ kind: 'minus', item: this.product() })
        else if (this.isCommand('pm') || this.isCommand('mp')) {
          const isLower = this.isCommand('mp')
          this.at++
          const left: Node = items.length === 1 ? items[0]! : { kind: 'sum', items: [...items] }
          items.length = 0
          items.push({ kind: 'plusminus', left, right: this.afterSign(isLower) })
        } else break
      }
      return items.length === 1 ? items[0]! : { kind: 'sum', items }
    })
  }

  /** What follows ±; ∓ is its negative. */
  private afterSign(isLower: boolean): Node {
    const item = this.product()
    return isLower ? { kind: 'minus', item } : item
  }

  private product(): Node {
    if (this.take('-')) return { kind: 'minus', item: this.product() }
    if (this.take('+')) return this.product()
    let left = this.postfix()
    for (;;) {
      if (
        this.take('*') ||
        this.takeCommand('times') ||
        this.takeCommand('cdot') ||
        this.takeCommand('ast')
      ) {
        left = times(left, this.signed())
      } else if (this.take('/') || this.takeCommand('div')) {
        left = { kind: 'quotient', over: left, under: this.signed() }
      } else if (this.startsFactor()) {
        const start = this.at
        const before = this.peek(-1)
        const isNumber = this.peek()?.kind === 'number'
        const right = this.postfix()
        if (right.kind === 'number' && left.kind === 'number') {
          // 2 1/3 and 2\frac{1}{3} are mixed numbers; two numbers side by side are nothing else.
          const under = this.take('/') ? this.postfix() : undefined
          const part: Node | undefined = under && { kind: 'quotient', over: right, under }
          if (part === undefined || !isCount(left) || !isMixedPart(part)) throw new Unreadable()
          left = { kind: 'sum', items: [left, part] }
        } else if (isCount(left) && right.kind === 'percent' && isMixedPart(right.item)) {
          // The sign stands behind the whole mixed number.
          left = { kind: 'percent', item: { kind: 'sum', items: [left, right.item] } }
        } else if (isCount(left) && isMixedPart(right) && this.tokens[start]?.kind === 'command') {
          left = { kind: 'sum', items: [left, right] }
        } else {
          // x1 and \sqrt{3}1 are slips of the pen, \frac{2}{3}3^n is none.
          if (right.kind === 'number' || (isNumber && before?.kind === 'letter')) throw new Unreadable()
          left = times(left, right)
        }
      } else return left
    }
  }

  private takeCommand(name: string): boolean {
    if (!this.isCommand(name)) return false
    this.at++
    return true
  }

  private signed(): Node {
    if (this.take('-')) return { kind: 'minus', item: this.signed() }
    if (this.take('+')) return this.signed()
    return this.postfix()
  }

  /** Whether a factor begins here, without a sign between. */
  private startsFactor(): boolean {
    const token = this.peek()
    if (token === undefined) return false
    switch (token.kind) {
      case 'number':
      case 'letter':
        return true
      case 'word':
        return functions.get(token.text) !== undefined || constants.has(token.text)
      case 'text':
        return false
      case 'sign':
        return (
          token.sign === '(' ||
          token.sign === '[' ||
          token.sign === '{' ||
          (token.sign === '|' && this.bars === 0)
        )
      case 'command':
        return (
          startsWithCommand.has(token.name) ||
          functions.get(token.name) !== undefined ||
          fonts.has(token.name) ||
          isGreek(token.name)
        )
    }
  }

  private postfix(): Node {
    let node = this.primary()
    for (;;) {
      if (this.isSign('^') || this.isSign('**')) {
        this.at++
        if (this.isCommand('circ') || this.isCommand('degree')) {
          this.at++
          node = { kind: 'degrees', item: node }
          continue
        }
        const exponent = this.argument(true)
        // Towers without brackets are read from either end, and are another number each way.
        if (this.isSign('^') || this.isSign('**')) throw new Unreadable()
        node =
          exponent.kind === 'symbol' && exponent.name === '°'
            ? { kind: 'degrees', item: node }
            : { kind: 'power', base: node, exponent }
      } else if (this.take('!')) {
        if (this.isSign('!')) throw new Unreadable()
        node = { kind: 'factorial', item: node }
      } else if (this.take('%') || this.takeWord('percent')) node = { kind: 'percent', item: node }
      else if (
        this.takeCommand('degree') ||
        this.takeWord('degrees') ||
        this.takeWord('degree') ||
        this.takeWord('deg')
      )
        node = { kind: 'degrees', item: node }
      else if (this.isSign("'") && node.kind === 'symbol') {
        this.at++
        node = { kind: 'symbol', name: `${node.name}'` }
      } else return node
    }
  }

  private takeWord(word: string): boolean {
    if (!this.isWord(word)) return false
    this.at++
    return true
  }

  private primary(): Node {
    return this.nested(() => {
      const token = this.peek()
      if (token === undefined) throw new Unreadable()
      this.at++
      switch (token.kind) {
        case 'number':
          return this.number(token.text)
        case 'letter':
          return this.letter(token.name)
        case 'word':
          return this.word(token.text)
        case 'text':
          return { kind: 'text', text: token.text }
        case 'command':
          return this.command(token.name)
        case 'sign':
          return this.bracketed(token.sign)
      }
    })
  }

  private number(text: string): Node {
    if (this.isSign('_')) {
      this.at++
      return this.otherBase(text)
    }
    if (this.isCommand('overline') || this.isCommand('bar')) {
      if (!text.includes('.')) throw new Unreadable()
      this.at++
      const period = this.argument()
      if (period.kind !== 'number') throw new Unreadable()
      return repeating(text, this.lastNumber)
    }
    const value = decimal(text)
    if (value === undefined) throw new Unreadable()
    this.lastNumber = text
    return value
  }

  private lastNumber = ''

  private otherBase(digits: string): Node {
    const base = this.argument()
    const named = base.kind === 'text' ? basesByName.get(base.text.toLowerCase()) : undefined
    const value = base.kind === 'number' ? Number(base.value.n) : named
    if (value === undefined || !(value >= 2 && value <= 36) || digits.includes('.')) throw new Unreadable()
    if ([...digits].some((digit) => Number.parseInt(digit, 36) >= value)) throw new Unreadable()
    if (value === 10) return decimal(digits) ?? { kind: 'dots' }
    return { kind: 'digits', digits: digits.replace(/^0+(?=.)/, ''), base: value }
  }

  private letter(name: string): Node {
    if (this.isSign('_')) {
      this.at++
      return this.symbol(`${name}_${this.rawArgument()}`)
    }
    if (name === 'e' || name === 'i') return { kind: 'constant', name }
    return this.symbol(name)
  }

  /** A variable, or a function of that name where brackets follow the letters that name functions. */
  private symbol(name: string): Node {
    if (/^[fgh](?:_.*|')?$/.test(name) && this.isSign('(')) {
      this.at++
      const args = this.items(')')
      return { kind: 'function', name: `${name}()`, args }
    }
    return { kind: 'symbol', name }
  }

  private word(text: string): Node {
    if (constants.has(text)) return text === 'pi' ? { kind: 'constant', name: 'pi' } : { kind: 'infinity' }
    const name = functions.get(text)
    if (name === undefined) throw new Unreadable()
    return this.applied(name)
  }

  private applied(name: string): Node {
    let base: Node | undefined
    if (name === 'log' && this.isSign('_')) {
      this.at++
      // \log_28 is the logarithm of 8, and log_10 2 that of 2.
      const isWhole = this.peek(1)?.kind === 'number' || this.isSign('(', 1) || this.isSign('{', 1)
      base = this.argument(isWhole)
    }
    let exponent: Node | undefined
    if (this.isSign('^') && name !== 'sqrt') {
      this.at++
      exponent = this.argument(true)
    }
    let args: Node[]
    if (this.isSign('(')) {
      this.at++
      args = this.items(')')
    } else if (this.isSign('{')) {
      this.at++
      args = this.items('}')
    } else args = [this.bareArgument()]
    if (base !== undefined) args.push(base)
    const inverse = inverses.get(name)
    const isInverse =
      exponent?.kind === 'minus' && exponent.item.kind === 'number' && exponent.item.value.n === 1n
    if (exponent !== undefined && isInverse && inverse !== undefined)
      return { kind: 'function', name: inverse, args }
    const call: Node = { kind: 'function', name, args }
    return exponent === undefined ? call : { kind: 'power', base: call, exponent }
  }

  /** What a function without brackets is of: sin 2x is the sine of 2x, and sin x cos x a product. */
  private bareArgument(): Node {
    if (this.take('-')) return { kind: 'minus', item: this.bareArgument() }
    let node = this.postfix()
    for (;;) {
      const token = this.peek()
      const isFunction =
        (token?.kind === 'command' && functions.get(token.name) !== undefined) ||
        (token?.kind === 'word' && functions.get(token.text) !== undefined)
      if (token === undefined || isFunction || this.isSign('(') || !this.startsFactor()) break
      node = times(node, this.postfix())
    }
    if (this.isSign('/') && node.kind !== 'sum') {
      const over = this.peek(1)
      if (over?.kind === 'number') {
        this.at++
        node = { kind: 'quotient', over: node, under: this.postfix() }
      }
    }
    return node
  }

  private command(name: string): Node {
    switch (name) {
      case 'frac':
      case 'dfrac':
      case 'tfrac':
      case 'cfrac':
        return { kind: 'quotient', over: this.argument(), under: this.argument() }
      case 'binom':
      case 'dbinom':
      case 'tbinom':
        return { kind: 'binomial', n: this.argument(), k: this.argument() }
      case 'surd':
      case 'sqrt': {
        const index = this.take('[') ? this.until(']') : undefined
        const item = this.isSign('(') ? this.primary() : this.argument(name === 'surd')
        if (index === undefined) return { kind: 'function', name: 'sqrt', args: [item] }
        const one: Node = { kind: 'number', value: rational(1n) }
        return { kind: 'power', base: item, exponent: { kind: 'quotient', over: one, under: index } }
      }
      case 'pi':
        return { kind: 'constant', name: 'pi' }
      case 'infty':
        return { kind: 'infinity' }
      case 'emptyset':
      case 'varnothing':
        return { kind: 'set', items: [] }
      case 'mathbb':
      case 'reals': {
        const set = name === 'reals' ? 'R' : this.rawArgument()
        if (set !== 'R') return { kind: 'text', text: `mathbb ${set}` }
        const infinity: Node = { kind: 'infinity' }
        const items: Node[] = [{ kind: 'minus', item: infinity }, infinity]
        return { kind: 'tuple', items, brackets: { open: '(', close: ')' } }
      }
      case 'lbrace':
        return this.set('rbrace')
      case 'langle':
        return { kind: 'tuple', items: this.items('rangle'), brackets: { open: '(', close: ')' } }
      case 'lfloor':
        return { kind: 'function', name: 'floor', args: this.items('rfloor') }
      case 'lceil':
        return { kind: 'function', name: 'ceil', args: this.items('rceil') }
      case 'lvert':
      case 'vert':
        return { kind: 'function', name: 'abs', args: [this.until(name === 'lvert' ? 'rvert' : 'vert')] }
      case 'begin':
        return this.matrix()
      case 'circ':
        return { kind: 'symbol', name: '°' }
      case 'log':
      case 'ln':
        return this.applied(name)
    }
    if (fonts.has(name)) return this.argument()
    const known = functions.get(name)
    if (known !== undefined) return this.applied(known)
    if (isGreek(name)) return this.letter(name.replace(/^var/, ''))
    throw new Unreadable()
  }

  private bracketed(sign: string): Node {
    if (sign === '{') {
      const items = this.items('}')
      if (items.length === 0) throw new Unreadable()
      return items.length === 1 ? items[0]! : { kind: 'set', items }
    }
    if (sign === '|') {
      this.bars++
      const item = this.sum()
      this.bars--
      this.expect('|')
      return { kind: 'function', name: 'abs', args: [item] }
    }
    // ]0, 5[ is how some countries write what others write as (0, 5).
    const open = sign === '(' || sign === ']' ? '(' : sign === '[' ? '[' : undefined
    if (open === undefined) throw new Unreadable()
    const bars = this.bars
    this.bars = 0
    const list = this.list()
    this.bars = bars
    const end = this.peek()
    this.at++
    const close =
      end?.kind === 'sign' && (end.sign === ')' || (end.sign === '[' && sign !== '('))
        ? ')'
        : end?.kind === 'sign' && end.sign === ']'
          ? ']'
          : undefined
    if (close === undefined) throw new Unreadable()
    const brackets: Brackets = { open, close }
    if (list.kind === 'list') return rowsOf(list.items) ?? { kind: 'tuple', items: list.items, brackets }
    if ((open === '(') !== (close === ')')) throw new Unreadable()
    return rowsOf([list]) ?? list
  }

  private set(close: string): Node {
    // {x | x > 2} is the set of what fulfils it.
    const start = this.at
    const first = this.peek()
    const bar = this.peek(1)
    const isBar =
      bar !== undefined &&
      ((bar.kind === 'sign' && (bar.sign === '|' || bar.sign === ':')) ||
        (bar.kind === 'command' && bar.name === 'mid'))
    if (first?.kind === 'letter' && isBar) {
      this.at += 2
      const condition = this.list()
      this.expect(close)
      if (condition.kind === 'relation') return { ...condition, builder: true }
      this.at = start
    }
    return { kind: 'set', items: this.items(close) }
  }

  /** Items up to a closing sign; none where it comes at once. */
  private items(close: string): Node[] {
    const bars = this.bars
    this.bars = 0
    const token = this.peek()
    const isEnd =
      (token?.kind === 'sign' && token.sign === close) || (token?.kind === 'command' && token.name === close)
    const list = isEnd ? undefined : this.list()
    this.bars = bars
    this.expect(close)
    if (list === undefined) return []
    return list.kind === 'list' ? [...list.items] : [list]
  }

  private until(close: string): Node {
    const items = this.items(close)
    if (items.length !== 1) throw new Unreadable()
    return items[0]!
  }

  /** The argument of a command or an exponent: a group, or one thing. A bare number is one digit, but as an exponent. */
  private argument(whole = false): Node {
    if (this.take('{')) {
      if (this.isCommand('circ') || this.isCommand('degree')) {
        this.at++
        this.expect('}')
        return { kind: 'symbol', name: '°' }
      }
      return this.until('}')
    }
    const token = this.peek()
    if (!whole && token?.kind === 'number' && token.text.length > 1 && /^\d+$/.test(token.text)) {
      this.tokens[this.at] = { ...token, text: token.text.slice(1), spaced: false }
      return { kind: 'number', value: rational(BigInt(token.text[0]!)) }
    }
    if (this.take('-')) return { kind: 'minus', item: this.argument(whole) }
    return this.primary()
  }

  /** The signs of an argument as they stand, for names. */
  private rawArgument(): string {
    if (!this.take('{')) {
      const token = this.peek()
      this.at++
      return token === undefined ? '' : wordOf(token)
    }
    let text = ''
    for (let open = 1; ; ) {
      const token = this.peek()
      if (token === undefined) throw new Unreadable()
      this.at++
      if (token.kind === 'sign' && token.sign === '{') open++
      if (token.kind === 'sign' && token.sign === '}' && --open === 0) return text
      text += wordOf(token)
    }
  }

  private matrix(): Node {
    const kind = this.environment()
    if (!/^(?:[pbvBV]?matrix|smallmatrix|array)$/.test(kind)) throw new Unreadable()
    if (kind === 'array') this.rawArgument()
    const rows: Node[][] = [[]]
    for (;;) {
      if (this.isCommand('end')) {
        this.at++
        if (this.environment() !== kind) throw new Unreadable()
        break
      }
      if (this.take('\\\\')) rows.push([])
      else if (!this.take('&') || rows.at(-1)!.length === 0) rows.at(-1)!.push(this.relation())
    }
    if (rows.at(-1)!.length === 0) rows.pop()
    const [first] = rows
    if (first === undefined || rows.some(({ length }) => length !== first.length || length === 0))
      throw new Unreadable()
    return { kind: 'matrix', rows, determinant: kind === 'vmatrix' }
  }

  private environment(): string {
    return this.rawArgument()
  }
}

function wordOf(token: Token): string {
  switch (token.kind) {
    case 'number':
    case 'word':
    case 'text':
      return token.text
    case 'letter':
    case 'command':
      return token.name
    case 'sign':
      return token.sign
  }
}

function times(left: Node, right: Node): Node {
  return { kind: 'product', items: left.kind === 'product' ? [...left.items, right] : [left, right] }
}

function isCount(node: Node): boolean {
  return node.kind === 'number' && node.value.d === 1n
}

function isMixedPart(node: Node): boolean {
  if (node.kind !== 'quotient') return false
  const { over, under } = node
  // 2\frac{5}{3} is a product: nobody writes so much beside a whole.
  return (
    over.kind === 'number' &&
    under.kind === 'number' &&
    isCount(over) &&
    isCount(under) &&
    over.value.n < under.value.n
  )
}

/** [[1, 2], [3, 4]] is a matrix. */
function rowsOf(items: readonly Node[]): Node | undefined {
  const rows = items.map((item) =>
    item.kind === 'tuple' && item.brackets.open === '[' ? item.items : undefined,
  )
  const [first] = rows
  if (first === undefined || rows.some((row) => row?.length !== first.length)) return undefined
  return { kind: 'matrix', rows: rows.filter((row) => row !== undefined), determinant: false }
}
