import { HttpProblem } from '../../core/http-port.ts'
import { isObject, type JsonObject } from './json.ts'

const taskIndex = '_ng_task_index'
/** Numbers that say who a sample is, or whether it counts, and measure nothing. */
const notMeasured = /^(_ng_|mask_sample$|quintain_index$)/

/**
 * The answer to `POST /aggregate_metrics`: mean, median, spread and range of every number of the samples, over all and by
 * task, as NeMo Gym's own profiler names them. Masked samples are in none of them and are counted beside.
 */
export function aggregateMetrics(body: JsonObject): JsonObject {
  const given = body['verify_responses']
  if (!Array.isArray(given) || !given.every(isObject))
    throw new HttpProblem(422, 'verify_responses: a list of objects is expected.')
  const measured = given.filter((one) => one['mask_sample'] !== true)
  const coverage = coverageOf(given, measured)
  const agent = { ...statistics(measured), ...coverage }
  const groups = [...byTask(measured)].sort(([a], [b]) => a - b)
  const headline = 'mean/reward' in agent ? { 'mean/reward': agent['mean/reward'] } : {}
  return {
    group_level_metrics: groups.map(([index, samples]) => ({ ...statistics(samples), [taskIndex]: index })),
    agent_metrics: agent,
    key_metrics: { ...headline, ...coverage },
  }
}

function coverageOf(all: readonly JsonObject[], measured: readonly JsonObject[]): Record<string, number> {
  if (measured.length === all.length) return {}
  const tasks = byTask(all).size
  const withNumber = byTask(measured).size
  return {
    'coverage/measured_rollouts': measured.length,
    'coverage/masked_rollouts': all.length - measured.length,
    'coverage/measured_tasks': withNumber,
    'coverage/fully_masked_tasks': tasks - withNumber,
  }
}

function byTask(samples: readonly JsonObject[]): Map<number, JsonObject[]> {
  const groups = new Map<number, JsonObject[]>()
  for (const sample of samples) {
    const index = typeof sample[taskIndex] === 'number' ? sample[taskIndex] : 0
    const group = groups.get(index)
    if (group === undefined) groups.set(index, [sample])
    else group.push(sample)
  }
  return groups
}

function statistics(samples: readonly JsonObject[]): Record<string, number> {
  const series = new Map<string, number[]>()
  for (const sample of samples) {
    for (const [name, value] of Object.entries(sample)) {
      const number = typeof value === 'boolean' ? Number(value) : value
      if (typeof number !== 'number' || !Number.isFinite(number) || notMeasured.test(name)) continue
      const values = series.get(name)
      if (values === undefined) series.set(name, [number])
      else values.push(number)
    }
  }
  const out: Record<string, number> = {}
  for (const [name, values] of series) {
    const sorted = values.toSorted((a, b) => a - b)
    const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
    const middle = sorted.length >> 1
    out[`mean/${name}`] = mean
    out[`max/${name}`] = sorted.at(-1)!
    out[`min/${name}`] = sorted[0]!
    out[`median/${name}`] =
      sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
    // Of one sample there is no spread to tell.
    if (sorted.length > 1) {
      const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0)
      out[`std/${name}`] = Math.sqrt(squares / (sorted.length - 1))
    }
  }
  return out
}
