import { type Box, type Unscored, unscored } from '../core/index.ts'

const plainNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
/** Nobody needs more for a number. */
const mostBytes = 4096

/**
 * The reward that a verifier wrote to a file of its box: a decimal alone, or a JSON object with a number `reward`. It is
 * read when the verifier has ended, however that was: what it had written before its deadline stands, and what it only
 * printed is none. A file that is missing or says anything else gives no reward (`reward_missing`, `reward_unreadable`),
 * never a 0.
 *
 * Read it in a grading box in which nothing of the agent's runs; a program of the agent's beside the verifier can write
 * there too (`runChecks` keeps them apart). Throws faults of owner `sandbox`.
 *
 * @example
 * await box.exec('bash /tests/test.sh', { wallMs: 60_000 })
 * return rewardFromFile(box, '/logs/verifier/reward.txt')
 */
export async function rewardFromFile(box: Box, path: string): Promise<number | Unscored> {
  const file = await box.read(path, { maxBytes: mostBytes })
  if (!file.ok) return unscored(file.reason === 'missing' ? 'reward_missing' : 'reward_unreadable')
  const text = Buffer.from(file.data).toString('utf8').trim()
  const value = plainNumber.test(text) ? Number(text) : rewardOfJson(text)
  return typeof value === 'number' && Number.isFinite(value) ? value : unscored('reward_unreadable')
}

function rewardOfJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    const isRecord = typeof value === 'object' && value !== null
    return isRecord && Object.hasOwn(value, 'reward') ? (value as { reward: unknown }).reward : undefined
  } catch {
    return undefined
  }
}
