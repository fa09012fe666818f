import { describe, expect, test } from 'vitest'
import { environment } from './environment.ts'
import { messageOf, QuintainError, stackOf } from './errors.ts'
import { addCost, addUsage, noUsage } from './records.ts'
import { taskProblems } from './tasks.ts'
import { tool } from './tool.ts'

const sound = { tasks: [{ id: 'a' }], rewards: { one: () => 1 } }
const named = (name: string, value: unknown) => Object.fromEntries([[name, value]])

describe('a definition that is wrong is refused where it is made', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'give a definition'],
    ['null', null, 'give a definition'],
    ['a world that is no function', { ...sound, world: {} }, '"world" is no function'],
    ['an oracle that is no function', { ...sound, oracle: 'x' }, '"oracle" is no function'],
    ['a success that is no function', { ...sound, success: true }, '"success" is no function'],
    ['a policy whose name is taken', { ...sound, policies: { *play() {} } }, '"play"'],
    ['a policy that is no function', { ...sound, policies: { speak: 'hi' } }, '"speak"'],
    ['a metric that is no function', { ...sound, metrics: { turns: 1 } }, '"turns"'],
    ['a slip in a seat', { ...sound, seats: { user: { sytem: 'x' } } }, 'did you mean "system"?'],
    ['a slip in permissions', { ...sound, permissions: { netwrok: true } }, 'did you mean "network"?'],
    [
      'a slip in a reward',
      { ...sound, rewards: { one: { wieght: 1, weight: 1, reward: () => 1 } } },
      'did you mean "weight"?',
    ],
    ['a slip in a need', { ...sound, needs: ['tool'] }, 'did you mean "tools"?'],
    ['needs that are no list', { ...sound, needs: 'tools' }, '"needs" is no list'],
    [
      'a weight without end',
      { ...sound, groupRewards: { best: { weight: Number.POSITIVE_INFINITY, reward: () => ({}) } } },
      'no finite number',
    ],
    ['a name that JSON readers drop', { ...sound, metrics: named('__proto__', () => 1) }, '__proto__'],
  ])('%s', (_name, definition, words) => {
    const make = () => environment(definition as never)
    expect(make).toThrow(words)
    expect(make).toThrow(expect.objectContaining({ code: 'definition_invalid' }))
  })

  test('a tool made of nothing', () => {
    for (const nothing of [undefined, null, 'tool'])
      expect(() => tool(nothing as never)).toThrow(expect.objectContaining({ code: 'definition_invalid' }))
  })

  test('limits of a task that are not above zero, or no durations', () => {
    const of = (limits: object) => taskProblems({ id: 'a', limits }, 0).map(({ path }) => path)
    expect(of({ turns: 0, tokens: -1, costUsd: Number.NaN })).toEqual([
      'limits.turns',
      'limits.tokens',
      'limits.costUsd',
    ])
    expect(of({ wall: 0, tool: '0s', grade: Number.POSITIVE_INFINITY })).toEqual([
      'limits.wall',
      'limits.tool',
      'limits.grade',
    ])
    expect(of({ turns: Number.POSITIVE_INFINITY, wall: '2m', tool: 5 })).toEqual([])
  })
})

test('anything that was thrown has a message and a stack', () => {
  const refuse = () => {
    throw new Error('no')
  }
  const proxy = new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse })
  for (const thrown of [
    proxy,
    Object.assign(new Error('x'), { message: 7 }),
    Object.assign(new Error('x'), { message: Object.create(null) }),
    Object.defineProperty(new Error('x'), 'message', { get: refuse }),
    Object.defineProperty(new Error('x'), 'stack', { get: refuse }),
    Symbol('s'),
    undefined,
  ]) {
    expect(messageOf(thrown)).toEqual(expect.any(String))
    expect(stackOf(thrown)).toEqual(expect.any(String))
    expect(QuintainError.isInstance(thrown)).toBe(false)
  }
})

test('sums of usage and cost are numbers that JSON holds', () => {
  const huge = { ...noUsage, output: Number.MAX_VALUE }
  expect(addUsage(huge, huge).output).toBe(Number.MAX_SAFE_INTEGER)
  expect(addUsage(huge, { ...noUsage, output: Number.NaN }).output).toBe(0)
  expect(addCost(Number.MAX_VALUE, Number.MAX_VALUE)).toBeNull()
  expect(addCost(0.5, Number.NaN)).toBeNull()
  expect(addCost(0.5, 0.25)).toBe(0.75)
})
