import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitCommand } from './split-command.ts'

test.each([
  ['node agent.js', ['node', 'agent.js']],
  ['  node\t"my agent.js"  ', ['node', 'my agent.js']],
  [`sh -c 'echo "$HOME" | wc'`, ['sh', '-c', 'echo "$HOME" | wc']],
  ['a "" b', ['a', '', 'b']],
  ['a\\ b c\\\\d', ['a b', 'c\\d']],
  ['"say \\"hi\\" \\n"', ['say "hi" \\n']],
  [`--x='1 2'3`, ['--x=1 23']],
])('%s', (line, words) => {
  expect(splitCommand(line)).toEqual(words)
})

test.each(['', '   ', 'node "agent.js', "it's"])('%j is refused', (line) => {
  expect(() => splitCommand(line)).toThrow(/quote|empty/)
})

test('quoted words come back as they were', () => {
  const quoted = (word: string) => `'${word.replaceAll("'", `'"'"'`)}'`
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (words) => {
      expect(splitCommand(words.map(quoted).join(' '))).toEqual(words)
    }),
  )
})
