import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Box, isUnscored } from '../core/index.ts'
import { processDriver } from '../sandbox/index.ts'
import { rewardFromFile } from './reward-file.ts'

let box: Box
beforeAll(async () => {
  box = await processDriver().start()
})
afterAll(() => box.stop())

async function read(text: string | Uint8Array): Promise<number | string> {
  await box.write('reward.txt', text)
  const found = await rewardFromFile(box, 'reward.txt')
  return isUnscored(found) ? found.reason : found
}

test.each([
  ['0.8', 0.8],
  [' -1\r\n', -1],
  ['1e-3', 0.001],
  ['0', 0],
  ['{"reward": 0.25, "tests": 4}', 0.25],
])('%j is a reward', async (text, reward) => {
  expect(await read(text)).toBe(reward)
})

test.each([
  '',
  'nan',
  'inf',
  '1e999',
  '0.8 0.9',
  '0,8',
  '0x10',
  'true',
  '"1"',
  '{"score": 1}',
  '{"reward": "1"}',
  '[1]',
])('%j is none, and no zero', async (text) => {
  expect(await read(text)).toBe('reward_unreadable')
})

test('what was written before the deadline stands, and what is not there is not made up', async () => {
  const result = await box.exec('echo 0.8 >late.txt; sleep 60', { wallMs: 300 })
  expect(result.timedOut).toBe(true)
  expect(await rewardFromFile(box, 'late.txt')).toBe(0.8)
  expect(await rewardFromFile(box, 'never.txt')).toMatchObject({ reason: 'reward_missing' })
  expect(await read(new Uint8Array(5000).fill(49))).toBe('reward_unreadable')
})
