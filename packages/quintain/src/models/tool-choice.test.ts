import { expect, test } from 'vitest'
import { DialectError } from './dialects/dialect.ts'
import { heededToolChoice } from './tool-choice.ts'

const tool = (name: string) => ({ name, description: '', parameters: {} })

test('a tool by name goes as it is to servers that heed it, and words go to all', () => {
  expect(heededToolChoice({ tool: 'a' }, [tool('a'), tool('b')], 'vllm')).toEqual({ tool: 'a' })
  expect(heededToolChoice({ tool: 'a' }, [tool('a'), tool('b')], undefined)).toEqual({ tool: 'a' })
  for (const word of ['auto', 'none', 'required', undefined] as const)
    expect(heededToolChoice(word, [tool('a')], 'llama.cpp')).toBe(word)
})

test('llama.cpp must call its only tool where that is named, and cannot be told one of several', () => {
  expect(heededToolChoice({ tool: 'a' }, [tool('a')], 'llama.cpp')).toBe('required')
  for (const tools of [[tool('a'), tool('b')], [tool('b')], [], undefined])
    expect(() => heededToolChoice({ tool: 'a' }, tools, 'llama.cpp')).toThrow(DialectError)
})
