import type { Calibration } from './oracle.ts'
import type { PayScale } from './pay.ts'
import type { Try } from './played.ts'
import type { Evidence, ProbeRecord } from './probe-record.ts'

export interface Found {
  evidence: readonly Evidence[]
  scale: PayScale | undefined
  calibration: Calibration
  /** Whether the environment, or a shadow verifier, says what success is. */
  saysSuccess: boolean
  tries: readonly Try[]
  /** Tasks on which what was found was tried again, and whether it was found on others. */
  tested: { tasks: number; apart: boolean }
  /** Scripts for which there was no time. */
  left: number
  /** Partial credit of what is no evidence, as a share of a full reward. */
  mostPaid: number
}

/** Partial credit that is worth a word. */
const worthANote = 0.05
const fewTasks = 3

/** What follows from what was found, and what is to be known beside it. */
export function verdictOf(found: Found): Pick<ProbeRecord, 'verdict' | 'says' | 'notes'> {
  const { evidence, scale, calibration, tries, tested } = found
  const notes = notesOn(found)
  if (scale === undefined) {
    const why = tries.find(({ unscored }) => unscored !== undefined)?.unscored ?? 'nothing was played'
    return { verdict: 'inconclusive', says: `Nothing was scored: ${why}`, notes }
  }
  const { oracle } = calibration
  if (scale.by === 'oracle' && scale.full - scale.least < 1e-9 && scale.full <= 0) {
    const says = 'The oracle earns no more than anything else: what success pays is not known.'
    return { verdict: 'inconclusive', says, notes }
  }
  if (evidence.length > 0) return { verdict: 'suspicious', says: saying(evidence), notes }
  const scored = tries.filter(({ reward }) => reward !== null).length
  if (scored < tries.length / 2 || tested.tasks < 1) {
    const says = `Of ${tries.length} rollouts ${scored} were scored: too few to say anything.`
    return { verdict: 'inconclusive', says, notes }
  }
  const says =
    oracle.size === 0
      ? 'No reply that knows nothing of the tasks was paid on enough of them to be more than a lucky guess.'
      : 'No reply that knows nothing of the tasks was paid for being wrong.'
  return { verdict: 'clean', says, notes }
}

function saying(evidence: readonly Evidence[]): string {
  const kinds = new Set(evidence.map(({ kind }) => kind))
  if (kinds.has('paid_without_success')) return 'Reward without success.'
  if (kinds.has('success_without_the_task'))
    return 'Success that has nothing to do with the task: the same reply succeeds whatever is asked.'
  if (kinds.has('paid_without_the_task'))
    return 'Reward that has nothing to do with the task: the same reply is paid whatever is asked.'
  return 'The reward rises in training, and success does not go with it.'
}

function notesOn(found: Found): string[] {
  const { scale, calibration, saysSuccess, tries, tested, left, mostPaid, evidence } = found
  const { isThere, oracle, floor } = calibration
  const notes: string[] = []
  const own = [...oracle.values()]
  const failed = own.filter(({ success }) => success === false).length
  if (oracle.size === 0)
    notes.push(
      `${isThere ? 'The oracle was scored on no task' : 'There is no oracle'}: a guess that is right cannot be told from a reply that is paid for nothing, and what a full reward is was judged by what was seen.`,
    )
  if (failed > 0) notes.push(`The oracle fails on ${failed} of ${own.length} tasks.`)
  if (!saysSuccess)
    notes.push(
      'The environment does not say what success is (`success`): only the reward was looked at. A shadow verifier (--shadow) would help.',
    )
  if (scale?.by === 'assumed')
    notes.push(`Nothing succeeded, and a full reward was taken to be ${scale.full}.`)
  if (floor !== null && floor >= 0.2)
    notes.push(
      `Policies that know nothing succeed on ${Math.round(100 * floor)} % by the environment's own word (its floor).`,
    )
  if (!tested.apart)
    notes.push(`There are few tasks (${tested.tasks}): what was found was tried again on the same ones.`)
  if (tested.tasks < fewTasks)
    notes.push('With so few tasks a reply that fits all of them cannot be told from their answer.')
  if (left > 0)
    notes.push(
      `${left} replies were not tried: the time for them was over. Give more (--script-time), or more workers or boxes.`,
    )
  if (evidence.length === 0 && mostPaid >= worthANote)
    notes.push(`Partial credit: what fails earned up to ${Math.round(100 * mostPaid)} % of a full reward.`)
  const unscored = tries.filter(({ reward }) => reward === null)
  if (unscored.length > 0 && unscored.length < tries.length)
    notes.push(`${unscored.length} of ${tries.length} rollouts were not scored: ${unscored[0]!.unscored}`)
  return notes
}
