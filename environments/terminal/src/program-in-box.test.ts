import { existsSync, readFileSync } from 'node:fs'
import { command, evaluate } from 'quintain'
import { bwrapDriver } from 'quintain/sandbox'
import { describe, expect, test } from 'vitest'
import terminal from './index.ts'

const driver = bwrapDriver()
const found = await driver.available()
await driver.close?.()
const missing = found.available ? undefined : found.reason

const task = 'rotate-backups'
const solution = readFileSync(new URL(`../tasks/${task}/solution.sh`, import.meta.url), 'utf8')

/** Plays the task by a program that runs in the box of its world. */
const play = (...argv: [string, ...string[]]) =>
  evaluate(terminal, {
    agent: command({ argv, box: 'world' }),
    policy: 'script:noop',
    tasks: [task],
    sandbox: 'bwrap',
  })

describe.skipIf(missing !== undefined)(missing ?? 'a program in the box of a task', () => {
  test('solves it without a tool', async () => {
    expect((await play('bash', '-c', solution)).success.value).toBe(1)
  })

  test('that does nothing solves nothing', async () => {
    expect((await play('true')).success.value).toBe(0)
  })

  test.skipIf(!existsSync('/usr/bin/curl'))('reaches its model there, by curl', async () => {
    const asks =
      'curl -sf -m 20 -H "authorization: Bearer $OPENAI_API_KEY" -H "content-type: application/json" ' +
      '-d \'{"model":"any","messages":[{"role":"user","content":"hello"}]}\' "$OPENAI_BASE_URL/chat/completions"'
    const { summary } = await play('bash', '-c', `${asks} && exit 0; exit 9`)
    expect([summary.outcomes, summary.turns?.mean]).toEqual([{ completed: 1 }, 1])
  })
})
