import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeLines, stateDiff } from './index.ts'

const lines = (before: unknown, after: unknown, options = {}) =>
  changeLines(stateDiff(before, after), options)

describe('changeLines', () => {
  test('goes by place, positions as numbers, whatever the order of the fields', () => {
    const before = { b: 1, a: Array.from({ length: 12 }, () => 0), c: { x: 1 } }
    const after = { c: { y: 1 }, a: before.a.map((_, i) => (i === 2 || i === 10 ? 1 : 0)), b: 2 }
    expect(lines(before, after)).toEqual(['a.2: 0 -> 1', 'a.10: 0 -> 1', 'b: 1 -> 2', 'c.x: - 1', 'c.y: + 1'])
  })

  test('elements of an unordered list come in one order', () => {
    const said = (after: string[]) =>
      changeLines(stateDiff({ l: ['x', 'y'] }, { l: after }, { unordered: ['l'] }))
    expect(said(['b', 'a'])).toEqual(['l: - "x"', 'l: - "y"', 'l: + "a"', 'l: + "b"'])
    expect(said(['a', 'b'])).toEqual(said(['b', 'a']))
  })

  test('a name cannot pass for another place or line', () => {
    expect(lines({ a: { b: 1 } }, { a: { b: 2 } })).toEqual(['a.b: 1 -> 2'])
    expect(lines({ 'a.b': 1, 'x: 1 -> 2\ny': 1, '': 1 }, {})).toEqual([
      '"": - 1',
      '"a.b": - 1',
      '"x: 1 -> 2\\ny": - 1',
    ])
  })

  test('what acts on a terminal or turns text round is inert', () => {
    const hostile = '\u001b[2J\u009b1m\u202etxt.exe\u2028\u007f\ud800\u0000'
    for (const line of lines({ [hostile]: hostile }, { a: hostile }))
      expect(line).not.toMatch(/[\p{C}\u2028\u2029]/u)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (name, value) => {
        for (const line of lines({}, { [name]: value })) expect(line).not.toMatch(/[\p{C}\u2028\u2029]/u)
      }),
    )
  })

  test('long values are cut to where they differ, and never in a character', () => {
    const long = 'x'.repeat(10_000_000)
    const [line] = lines({ a: `${long}old${long}` }, { a: `${long}new${long}` })
    expect(line).toMatch(/^a: …x+oldx+… \(20000005 characters\) -> …x+newx+… \(20000005 characters\)$/)
    expect(line!.length).toBeLessThan(600)
    expect(lines({}, { a: '😀'.repeat(500) }, { length: 10 })).toEqual(['a: + "😀😀😀😀… (1002 characters)'])
    expect(lines({}, { [long]: 1 })[0]).toHaveLength(100 + '… (10000000 characters): + 1'.length)
  })

  test('many lines are counted', () => {
    expect(lines({}, { a: 1, b: 1, c: 1 }, { most: 2 })).toEqual(['a: + 1', 'b: + 1', '… and 1 more'])
  })
})
