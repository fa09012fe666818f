import { availableParallelism } from 'node:os'
import {
  type ErrorCode,
  type Harness,
  isEnvironment,
  QuintainError,
  refuseUnknown,
  type Sampling,
} from '../core/index.ts'
import { kindOf } from './given.ts'
import type { ResumeOptions, RunControl, RunOptions } from './run-options.ts'

/** The longest wait of one timer of Node. */
const longestMs = 2 ** 31 - 1
/** More processes than this are a slip, whatever the machine. */
const mostWorkers = (): number => Math.max(256, 4 * availableParallelism())

const samplingKeys = [
  'temperature',
  'topP',
  'maxTokens',
  'stop',
  'seed',
  'reasoningEffort',
  'logprobs',
  'extra',
] as const satisfies readonly (keyof Sampling)[]

function shown(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : typeof value === 'string'
      ? JSON.stringify(value.slice(0, 80))
      : kindOf(value)
}

/** Throws when a value that was given is not what it has to be. */
function expect(
  name: string,
  value: unknown,
  fits: (value: unknown) => boolean,
  wanted: string,
  code: ErrorCode = 'usage',
): void {
  if (value === undefined || fits(value)) return
  throw new QuintainError(code, `${name} is ${shown(value)}; give ${wanted}.`, { facts: { option: name } })
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1
const isSignal = (value: unknown): boolean => value instanceof AbortSignal

/** Refuses, as `usage`, what no run can be controlled by, before anything is started. */
export function checkControl(options: RunControl): void {
  const count = 'a whole number from 1'
  expect('concurrency', options.concurrency, isCount, count)
  expect('maxTries', options.maxTries, isCount, count)
  const most = mostWorkers()
  const fewEnough = (value: unknown) => isCount(value) && (value as number) <= most
  expect('workers', options.workers, fewEnough, `a whole number from 1 to ${most}`)
  const isWait = (value: unknown) =>
    Number.isFinite(value) && (value as number) >= 0 && (value as number) <= longestMs
  expect('boxes', options.boxes, isCount, count)
  expect('graceMs', options.graceMs, isWait, `milliseconds from 0 to ${longestMs}`)
  const isCap = (value: unknown) => Number.isFinite(value) && (value as number) >= 0
  expect('maxCostUsd', options.maxCostUsd, isCap, 'US dollars')
  expect('signal', options.signal, isSignal, 'an AbortSignal')
  expect('hardSignal', options.hardSignal, isSignal, 'an AbortSignal')
  expect('onProgress', options.onProgress, isFunction, 'a function')
}

/** Refuses, as `usage`, options that a run cannot be made of. What the environment says to them is looked at later. */
export function checkRunOptions(options: RunOptions): void {
  checkControl(options)
  checkSelection(options)
  const { env, harness, sampling, seed } = options
  if (!isText(env) && !isEnvironment(env)) {
    throw new QuintainError(
      'usage',
      `The environment is ${shown(env)}; give what environment() made, or a path or package name.`,
    )
  }
  expect('options', options.options, isObject, 'an object')
  expect('limits', options.limits, isObject, 'an object such as { turns: 10 }', 'limits_invalid')
  const isSeed = (value: unknown) => typeof value === 'string' || Number.isFinite(value)
  expect('seed', seed, isSeed, 'text or a finite number')
  expect('escalate', options.escalate, (value) => typeof value === 'boolean', 'true or false')
  const isPlace = (value: unknown) => value === 'worker' || value === 'inline'
  expect('isolation', options.isolation, isPlace, '"worker" or "inline"')
  const { sandbox } = options
  const isDriver = (value: unknown) =>
    isText(value) || (isObject(value) && isFunction((value as { start?: unknown }).start))
  expect('sandbox', sandbox, isDriver, 'the name of a driver, such as "bwrap", or a driver')
  expect('dir', options.dir, isText, 'the path of a folder')
  expect('cwd', options.cwd, isText, 'the path of a folder')
  if (harness !== undefined) checkHarness('harness', harness)
  for (const player of Object.values(options.seats)) {
    if ('agent' in player && typeof player.agent !== 'function') checkHarness('agent', player.agent)
  }
  if (sampling !== undefined) checkSampling(sampling)
}

/** Refuses, as `usage`, what is no harness. */
export function checkHarness(name: string, harness: Harness): void {
  expect(name, harness, isObject, 'a harness such as toolLoop()')
  expect(`${name}.name`, harness.name ?? null, isText, 'its name for the records')
  expect(`${name}.run`, harness.run ?? null, isFunction, 'a function')
  expect(`${name}.carries`, harness.carries ?? null, isObject, '{ turns, tools, images }')
  const isPlace = (value: unknown) => value === 'with-world' || value === 'outside'
  expect(`${name}.runs`, harness.runs, isPlace, '"with-world" or "outside"')
}

function checkSampling(sampling: Sampling): void {
  expect('sampling', sampling, isObject, 'an object such as { temperature: 0 }')
  refuseUnknown(sampling, samplingKeys, 'usage', 'sampling: unknown setting')
  for (const name of ['temperature', 'topP', 'maxTokens', 'seed'] as const)
    expect(`sampling.${name}`, sampling[name], Number.isFinite, 'a finite number')
  expect('sampling.stop', sampling.stop, isTexts, 'a list of texts')
  expect('sampling.reasoningEffort', sampling.reasoningEffort, isText, 'text such as "low"')
  expect('sampling.logprobs', sampling.logprobs, (value) => typeof value === 'boolean', 'true or false')
  expect('sampling.extra', sampling.extra, isObject, 'an object')
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** Refuses, as `usage`, what selects no tasks. */
export function checkSelection({
  tasks,
  split,
  repeats,
}: Pick<ResumeOptions, 'tasks' | 'split' | 'repeats'>): void {
  const selects = (value: unknown) =>
    isTexts(value) || (Number.isSafeInteger(value) && (value as number) >= 0)
  expect('tasks', tasks, selects, 'a whole number from 0, or a list of task ids')
  expect('split', split, isText, 'the name of a split')
  expect('repeats', repeats, isCount, 'a whole number from 1')
}
