import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluateScoreFormula, parseFormula } from './score-formula.ts'

function worth(source: string, scores: Record<string, number> = {}): number | string {
  const reading = parseFormula(source)
  if (!reading.ok) return `no formula at ${reading.at}`
  const result = evaluateScoreFormula(reading.formula, scores)
  return result.ok ? result.value : 'no number'
}

describe('formulas of hosted graders', () => {
  it.each([
    ['0.8*acc + 0.2*style', 0.9],
    ['-2^2', -4],
    ['2^-1', 0.5],
    ['2^3^2', 512],
    ['(1 - acc) * 5', 0],
    ['min(acc, style, 0.25)', 0.25],
    ['max(0, floor(style + 0.5))', 1],
    ['1e-3 + .5', 0.501],
    ['8 - 3 - 2', 3],
    ['8 / 4 / 2', 1],
    ['sqrt(16) + abs(-1) + ceil(0.2) + exp(0) + log(1)', 7],
    ['--acc', 1],
    ['min * 2', 6],
  ])('%s', (source, value) => {
    expect(worth(source, { acc: 1, style: 0.5, min: 3 })).toBeCloseTo(Number(value), 12)
  })

  it.each([
    ['', 0],
    ['a +', 3],
    ['a + * b', 4],
    ['(a', 2],
    ['a b', 2],
    ['a ** 2', 2],
    ['a if b', 2],
    ['a > 1', 2],
    ['abs(a, b)', 0],
    ['min()', 4],
    ['eval(a)', 0],
    ['1e999', 0],
    ['a + b)', 5],
  ])('says where %j is no formula', (source, position) => {
    expect(worth(source)).toBe(`no formula at ${position}`)
  })

  it.each([
    'hits/total',
    'log(total)',
    'sqrt(-1 - total)',
    'exp(1000)',
    '10^400',
    '0/0',
    '1/(1/total)',
    '(-8)^(1/3)',
  ])('gives no number for %s', (source) => {
    expect(worth(source, { hits: 0, total: 0 })).toBe('no number')
  })

  it('says which names it has, and knows none that objects have of their own', () => {
    for (const name of ['style', 'constructor', '__proto__']) {
      expect(parseFormula(`acc + ${name} + acc`)).toMatchObject({ names: ['acc', name] })
      expect(worth(`acc + ${name}`, { acc: 1 })).toBe('no number')
    }
  })

  it('takes long formulas and refuses deep ones', () => {
    expect(worth(Array.from({ length: 5000 }, () => '1').join('+'))).toBe(5000)
    expect(worth(`${'('.repeat(5000)}1${')'.repeat(5000)}`)).toContain('no formula')
    expect(worth(`${'-'.repeat(9000)}1`)).toContain('no formula')
    expect(worth('1+'.repeat(20_000))).toContain('no formula')
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (source) => typeof worth(source) !== 'undefined'))
  })

  interface Tree {
    text: string
    /** Tightness of its outermost sign: 1 sum, 2 product, 3 minus, 4 power, 5 atom. */
    binds: number
    value: number
  }
  const signs = {
    '+': (l: number, r: number) => l + r,
    '-': (l: number, r: number) => l - r,
    '*': (l: number, r: number) => l * r,
    '/': (l: number, r: number) => l / r,
    '^': (l: number, r: number) => l ** r,
  }
  const within = (tree: Tree, least: number) => (tree.binds >= least ? tree.text : `(${tree.text})`)
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.double({ min: 0, max: 100, noNaN: true }).map((value) => ({ text: String(value), binds: 5, value })),
      fc.constantFrom<Tree>({ text: 'a', binds: 5, value: 0.25 }, { text: 'b_2', binds: 5, value: 3 }),
      tie('tree').map((of) => ({ text: `-${within(of, 3)}`, binds: 3, value: -of.value })),
      tie('tree').map((of) => ({ text: `abs( ${of.text} )`, binds: 5, value: Math.abs(of.value) })),
      fc.tuple(tie('tree'), tie('tree')).map(([l, r]) => ({
        text: `max(${l.text},${r.text})`,
        binds: 5,
        value: Math.max(l.value, r.value),
      })),
      fc
        .tuple(tie('tree'), tie('tree'), fc.constantFrom(...(['+', '-', '*', '/', '^'] as const)))
        .map(([l, r, sign]) => {
          const binds = sign === '^' ? 4 : '*/'.includes(sign) ? 2 : 1
          const left = within(l, sign === '^' ? 5 : binds)
          const right = within(r, sign === '^' ? 3 : binds + 1)
          return { text: `${left} ${sign} ${right}`, binds, value: signs[sign](l.value, r.value) }
        }),
    ),
  }))

  it('reads back what a tree is printed as, with no more parentheses than it needs', () => {
    fc.assert(
      fc.property(tree, ({ text, value }) => {
        const result = worth(text, { a: 0.25, b_2: 3 })
        // A part may be no number where the whole is one, such as 1/(1/0); that is no number, too.
        if (result === 'no number') expect(text).toMatch(/[/^*]/)
        else expect(result).toBe(value + 0)
      }),
      { numRuns: 500 },
    )
  })
})
