import { expect, test } from 'vitest'
import { argumentsOf, blocksOf, commandsOf, linksOf, maskedLine, outputDifference } from './blocks.ts'

test('blocks with their words, and fences inside longer fences', () => {
  const page = '# A\n\n```ts part=field x="two words"\nlet a\n```\n\n````md\n```sh\nls\n```\n````\n'
  expect(blocksOf(page)).toEqual([
    { line: 3, language: 'ts', words: { part: 'field', x: 'two words' }, code: 'let a\n' },
    { line: 7, language: 'md', words: {}, code: '```sh\nls\n```\n' },
  ])
  expect(() => blocksOf('```ts\nlet a\n')).toThrow('line 1 is not closed')
})

test('commands without comments, joined where they go on', () => {
  expect(commandsOf('# why\nnpx quintain list   # all\nquintain eval . \\\n  -n 5\n\n')).toEqual([
    'npx quintain list',
    'quintain eval .    -n 5',
  ])
  // A "#" inside a word is an order's id.
  expect(commandsOf('quintain show run "a#0"\n')).toEqual(['quintain show run "a#0"'])
  expect(argumentsOf(`show run "a b" 'c d' e`)).toEqual(['show', 'run', 'a b', 'c d', 'e'])
})

test('links, but not those in code or to other sites', () => {
  const page = '[a](b.md#c) [d](https://example.org) [e](#here)\n```md\n[f](g.md)\n```\n'
  expect(linksOf(page)).toEqual(['b.md'])
})

test('times, ids, digests and versions are no difference', () => {
  expect(maskedLine('wordle  (a70f319b5ad1)')).toBe('wordle (DIGEST)')
  expect(maskedLine('  p50 57 ms, p95 1.5 s (ran for 2 min 3 s)')).toBe('p50 SPAN, p95 SPAN (ran for SPAN)')
  expect(maskedLine('node 24.22.3 at 2026-11-29T19:19:37.447Z')).toBe('node VERSION at TIME')
})

test('numbers, missing lines and further lines are', () => {
  expect(outputDifference('a 0.5\nb  1 ms\n', 'a 0.5\n\nb 2 ms\n')).toBeUndefined()
  expect(outputDifference('a 0.5\n', 'a 0.6\n')).toContain('a 0.6')
  expect(outputDifference('a\n', 'a\nb\n')).toContain('also printed')
  expect(outputDifference('a\nb\n', 'a\n')).toContain('nothing more')
  expect(outputDifference('a\n…\nd\n', 'a\nb\nc\nd\n')).toBeUndefined()
  expect(outputDifference('a\n…\ne\n', 'a\nb\n')).toContain('nothing like it')
  expect(outputDifference('a\n…\n', 'a\nb\n')).toBeUndefined()
})
