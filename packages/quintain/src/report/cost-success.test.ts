import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CostSuccess, type CostSuccessPoint, costAxis, placedPoints } from './cost-success.ts'
import { costSuccessSvg } from './cost-success-svg.ts'
import { costSuccessText } from './cost-success-text.ts'

const point = (
  letter: string,
  cost: number | null,
  value: number | null,
  extra: Partial<CostSuccessPoint> = {},
): CostSuccessPoint => ({
  letter,
  label: `model-${letter}`,
  value,
  cost,
  interval: value === null ? null : [Math.max(0, value - 0.1), Math.min(1, value + 0.1)],
  frontier: false,
  ...extra,
})
const picture = (...points: CostSuccessPoint[]): CostSuccess => ({ measure: 'success', points })

describe('in characters', () => {
  test('a letter for each run, with whiskers; dearer is further right, better is higher', () => {
    const text = costSuccessText(picture(point('A', 0.01, 0.25), point('B', 0.02, 0.75, { frontier: true })))
    const lines = text.split('\n')
    const at = (letter: string) => lines.findIndex((line) => new RegExp(`[│└].*${letter}`).test(line))
    expect(at('B')).toBeLessThan(at('A'))
    expect(lines[at('A')]?.indexOf('A')).toBeLessThan(lines[at('B')]?.indexOf('B') ?? 0)
    expect(text).toContain('B  model-B: success 0.750 [0.650, 0.850], $0.02 an order; on the frontier')
    expect(text).toContain('US dollars an order')
  })

  test('what is unknown is said, and never drawn as nothing', () => {
    const text = costSuccessText(picture(point('A', 0, 0.5), point('B', 1, 0.6), point('C', null, 0.9)))
    expect(text).toContain('C  model-C: success 0.900 [0.800, 1.000], cost unknown; not in the picture')
    expect(text.split('\n').filter((line) => /^ +\S* ?[│└].*C/.test(line))).toEqual([])
    expect(costSuccessText(picture(point('A', null, 0.5), point('B', 1, 0.6)))).toContain('No picture')
  })

  test('runs that lie on each other are both to be seen', () => {
    const text = costSuccessText(picture(point('A', 0, 1), point('B', 0, 1)))
    expect(text).toContain('AB')
  })
})

test('whatever the numbers, all letters are drawn and the picture is well formed', () => {
  const some = fc.record({
    cost: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
    value: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  })
  fc.assert(
    fc.property(fc.array(some, { minLength: 1, maxLength: 6 }), (all) => {
      const shown = picture(...all.map(({ cost, value }, i) => point('ABCDEF'[i]!, cost, value)))
      const svg = costSuccessSvg(shown)
      expect(svg).not.toMatch(/NaN|Infinity|undefined/)
      expect(svg.match(/<circle/g)?.length ?? 0).toBe(placedPoints(shown.points).length)
      expect(costSuccessText(shown)).not.toMatch(/NaN|undefined/)
    }),
  )
})

test('a wide range of costs is drawn on a log scale', () => {
  const [a, b] = placedPoints([point('A', 0.001, 0.5), point('B', 1, 0.6)])
  expect(costAxis([a!, b!]).log).toBe(true)
  expect(costSuccessSvg(picture(a!, b!))).toContain('log scale')
  expect(costAxis([point('A', 0, 1), b!] as never).log).toBe(false)
})

test('a hostile name is text in the picture', () => {
  const svg = costSuccessSvg(
    picture(point('A', 1, 0.5, { label: '</text><script>x()</script>"' }), point('B', 2, 0.6)),
  )
  expect(svg).not.toContain('<script')
  expect(svg).toContain('&lt;script&gt;')
})
