import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importsOf } from './imports.ts'

const names = (source: string) => importsOf(source).map(({ specifier }) => specifier)

describe('importsOf', () => {
  test.each([
    [`import './a.ts'`],
    [`import a from './a.ts'`],
    [`import * as a from './a.ts'`],
    [`import a, { type b, c as d } from './a.ts'`],
    [`import type { A } from './a.ts'`],
    [`import type A from "./a.ts"`],
    [`import {\n  a,\n  b,\n} from './a.ts'`],
    [`import data from './a.ts' with { type: 'json' }`],
    [`export * from './a.ts'`],
    [`export * as a from './a.ts'`],
    [`export { a } from './a.ts'`],
    [`export type { A } from './a.ts'`],
    [`export type * from './a.ts'`],
    [`const a = await import('./a.ts')`],
    [`type A = import('./a.ts').A`],
    [`type A = typeof import('./a.ts')`],
    [`const a = require('./a.ts')`],
    [`const text = \`\${await import('./a.ts')}\``],
    [`const text = \`\${{ a: \`\${import('./a.ts')}\` }} import('./b.ts')\``],
    [`const half = 1 / 2; import('./a.ts'); const third = 1 / 3`],
    [`const quote = /['"]/; import('./a.ts')`],
    [`const slash = /[/]/.test('x') ? import('./a.ts') : 1`],
  ])('%s', (source) => {
    expect(names(source)).toEqual(['./a.ts'])
  })

  test.each([
    [`// import './a.ts'`],
    [`/* import './a.ts' */`],
    [`/** @example import a from './a.ts' */`],
    [`const text = "import './a.ts'"`],
    [`const text = \`import './a.ts'\``],
    [`const url = new URL('./a.ts', import.meta.url)`],
    [`export const from = './a.ts'`],
    [`export const a = { from: './a.ts' }`],
    [`export default './a.ts'`],
    [`export type A = './a.ts'`],
    [`export { a }\nconst from = './a.ts'`],
    [`export function from() { return './a.ts' }`],
    [`loader.import('./a.ts')`],
    [`import(name)`],
    [`const pattern = /import '.\\/a.ts'/`],
  ])('nothing in %s', (source) => {
    expect(names(source)).toEqual([])
  })

  test('lines are those of the module names, past comments, templates and several-line imports', () => {
    const source =
      '#!/usr/bin/env node\n/*\n*/\nconst t = `\n$' +
      '{1}\n`\nimport {\n  a,\n} from "./a.ts"\nimport "./b.ts"\n'
    expect(importsOf(source)).toEqual([
      { specifier: './a.ts', line: 9 },
      { specifier: './b.ts', line: 10 },
    ])
  })

  test('any text is read to its end', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'`{$}\'"/*\\\n a', 'import ', 'from ') }), (noise) => {
        expect(Array.isArray(importsOf(noise))).toBe(true)
        expect(names(`import './a.ts'\n${noise}`)[0]).toBe('./a.ts')
      }),
    )
  })
})
