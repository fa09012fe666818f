import { expect, test } from 'vitest'
import { playerName } from './player-name.ts'

test.each([
  ['gpt', 'auto', 'gpt'],
  ['gpt', 'imported', 'gpt'],
  ['agent:before', 'before@function', 'before@function'],
  ['gpt', 'command:agent@1', 'gpt in command:agent@1'],
])('%s in %s is %s', (policy, harness, name) => {
  expect(playerName({ policy, harness })).toBe(name)
})
