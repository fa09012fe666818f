import type { LossName } from '../serve/loss.ts'
import type { ClientVerdict } from './episode-client.ts'
import { type Played, type PlayedStep, wasCarriedOut } from './play-again.ts'
import { type Move, notTold, type RecordedEnd, type RecordedEpisode } from './recorded-episode.ts'

/** Something that was not the same behind a door. */
export interface Difference {
  what:
    | 'opening'
    | 'tools'
    | 'refused'
    | 'text'
    | 'error'
    | 'done'
    | 'moves'
    | 'verdict'
    | 'reward'
    | 'success'
  /** Which of the agent's moves it came of, and which call of it; undefined for what belongs to the whole episode. */
  move?: number
  call?: number
  recorded: string
  given: string
}

/** A step as the recording has it. */
interface ExpectedStep {
  move: number
  call?: number
  /** What came of it; undefined where the recording does not say. A text that is undefined is not compared. */
  known: { text: string | undefined; error?: string } | undefined
  /** Undefined where it may be either. */
  done: boolean | undefined
}

/**
 * Holds an episode that was played through a door against its recording: what the agent read, each result with its error
 * and whether the episode was over with it, and what it earned, to the last bit. Gives every difference, in order.
 */
export function compareEpisode(recorded: RecordedEpisode, played: Played): Difference[] {
  const { opening, refused } = played
  const differences: Difference[] = []
  if (opening !== undefined) {
    const missing = recorded.opening.find((text) => !opening.text.includes(text))
    if (missing !== undefined) differences.push({ what: 'opening', recorded: missing, given: opening.text })
    const tool = recorded.tools.find((name) => !opening.tools.includes(name))
    if (tool !== undefined)
      differences.push({ what: 'tools', recorded: tool, given: opening.tools.join(', ') || 'none' })
  }
  differences.push(...stepDifferences(recorded, played))
  if (refused !== undefined) {
    const at = typeof refused.at === 'string' ? {} : refused.at
    const when = typeof refused.at === 'string' ? ` (${refused.at})` : ''
    differences.push({ what: 'refused', ...at, recorded: 'no refusal', given: `${refused.message}${when}` })
  } else differences.push(...verdictDifferences(recorded.end, played.verdict))
  return differences
}

function stepDifferences(recorded: RecordedEpisode, { steps, refused, verdict }: Played): Difference[] {
  const expected = expectedSteps(recorded)
  const differences: Difference[] = []
  let next = 0
  for (const step of steps) {
    // What cannot be sent was left out.
    while (next < expected.length && !isSame(expected[next]!, step)) next++
    const one = expected[next++]
    if (one !== undefined) differences.push(...ofStep(one, step))
  }
  const left = expected.slice(next)
  if (left.length > 0 && steps.at(-1)?.done === true && refused === undefined && verdict.kind !== 'failed') {
    const { move, call } = steps.at(-1)!
    differences.push({
      what: 'moves',
      move,
      ...(call === undefined ? {} : { call }),
      recorded: `${left.length} more`,
      given: 'the episode was over',
    })
  }
  return differences
}

const isSame = (one: ExpectedStep, { move, call }: PlayedStep): boolean =>
  one.move === move && one.call === call

/** The steps of a recording, each with what it should give. */
export function expectedSteps(recorded: RecordedEpisode): ExpectedStep[] {
  const { moves, outcome } = recorded
  const steps: ExpectedStep[] = moves.flatMap((move, place): ExpectedStep[] => {
    if (move.kind === 'say') {
      const { answer, unsteady } = move
      const known = answer === undefined ? undefined : { text: unsteady ? undefined : answer }
      return [{ move: place, known, done: known === undefined ? undefined : false }]
    }
    return move.calls.flatMap((call, at) => {
      if (!wasCarriedOut(call, recorded)) return []
      const { text, error, unsteady } = call.result
      const known = { text: unsteady ? undefined : text, ...(error === undefined ? {} : { error }) }
      return [{ move: place, call: at, known: error === notTold ? undefined : known, done: false }]
    })
  })
  const last = steps.at(-1)
  if (last !== undefined && last.move === moves.length - 1)
    last.done = doneWithLastMove(last, outcome, moves.at(-1)!)
  return steps
}

/** Whether the episode ends with the last move itself. */
function doneWithLastMove(
  { done }: ExpectedStep,
  outcome: RecordedEpisode['outcome'],
  move: Move,
): boolean | undefined {
  // Of several calls in one reply nobody knows which is the last before the limit, until another reply is made.
  if (outcome === 'turn_limit') return move.kind === 'calls' && move.calls.length > 1 ? undefined : true
  if (outcome === 'env_done') return true
  // Others are ended by the client; a limit of time may be told with the step beneath which it was reached.
  return outcome === 'completed' ? done : undefined
}

function ofStep({ known, done, ...place }: ExpectedStep, given: PlayedStep): Difference[] {
  const differences: Difference[] = []
  if (known !== undefined) {
    const { text, error } = known
    if (error === undefined && saysOver(given))
      return [{ what: 'moves', ...place, recorded: text ?? 'a result', given: given.text }]
    if (text !== undefined && text !== given.text)
      differences.push({ what: 'text', ...place, recorded: text, given: given.text })
    const sameError = given.error === true ? error !== undefined : given.error === error
    if (!sameError)
      differences.push({
        what: 'error',
        ...place,
        recorded: error ?? 'none',
        given: String(given.error ?? 'none'),
      })
  }
  if (done !== undefined && given.done !== undefined && done !== given.done)
    differences.push({ what: 'done', ...place, recorded: String(done), given: String(given.done) })
  return differences
}

/** Nothing was carried out, since the episode had ended. */
function saysOver({ text, error }: PlayedStep): boolean {
  return error === 'episode_over' || (error === true && /episode is over/i.test(text))
}

function verdictDifferences(recorded: RecordedEnd, given: ClientVerdict): Difference[] {
  if (recorded.kind !== 'scored' || given.kind !== 'scored') {
    const same = given.kind === 'no_number' ? recorded.kind !== 'scored' : given.kind === recorded.kind
    return same ? [] : [{ what: 'verdict', recorded: said(recorded), given: said(given) }]
  }
  const differences: Difference[] = []
  if (!Object.is(recorded.reward, given.reward))
    differences.push({ what: 'reward', recorded: exact(recorded.reward), given: exact(given.reward) })
  if (given.success !== undefined && given.success !== recorded.success)
    differences.push({ what: 'success', recorded: String(recorded.success), given: String(given.success) })
  return differences
}

function said(end: RecordedEnd | ClientVerdict): string {
  switch (end.kind) {
    case 'scored':
      return `reward ${exact(end.reward)}`
    case 'unscored':
      return 'reason' in end ? `unscored: ${end.reason}` : 'unscored'
    case 'failed':
      return 'fault' in end ? `a fault: ${end.fault.owner}/${end.fault.code}` : 'a fault'
    case 'no_number':
      return 'no number'
    case 'none':
      return 'nothing'
  }
}

/** All digits, and the sign of a zero. */
function exact(reward: number): string {
  return Object.is(reward, -0) ? '-0' : String(reward)
}

/** What of an episode can be lost on the way: a loss that is declared explains a difference only where this is in it. */
export function lossesIn(recorded: RecordedEpisode, played: Played): Set<LossName> {
  const found = new Set<LossName>()
  for (const move of recorded.moves) {
    if (move.kind !== 'calls') continue
    if (move.text !== '') found.add('text beside calls')
    if (move.calls.length > 1) found.add('calls are turns')
    if (move.calls.some(({ result }) => result.error === 'unknown_tool')) found.add('calls of unknown tools')
    if (move.calls.some(({ result }) => result.error === 'truncated')) found.add('how the agent was cut')
  }
  if (played.unsent > 0) found.add('arguments that are no object')
  if (played.steps.at(-1)?.done !== true) found.add('no score when ended early')
  const { outcome } = recorded
  if (outcome !== undefined && !['completed', 'env_done', 'turn_limit'].includes(outcome))
    found.add('how the agent was cut')
  return found
}

/** What a loss can make of an episode. */
const makes: Readonly<Record<LossName, ReadonlySet<Difference['what']>>> = {
  'text beside calls': new Set(['verdict', 'reward', 'success']),
  'calls are turns': new Set(['done', 'moves', 'verdict', 'reward', 'success']),
  'no score when ended early': new Set(['verdict']),
  'arguments that are no object': new Set(['text', 'error', 'done', 'moves', 'verdict', 'reward', 'success']),
  'calls of unknown tools': new Set(['text', 'done', 'moves', 'verdict', 'reward', 'success']),
  'how the agent was cut': new Set(['done', 'moves', 'verdict', 'reward', 'success']),
}

/** A difference, and the losses that may have made it; none for one that nothing explains. */
export interface Explained {
  difference: Difference
  losses: LossName[]
}

/**
 * Says of each difference which of the door's declared losses explain it: those that are in the episode and that can make
 * such a difference. That an episode has no score is explained by nothing else than that the client ended it.
 */
export function explained(
  differences: readonly Difference[],
  inEpisode: ReadonlySet<LossName>,
  declared: ReadonlySet<LossName>,
): Explained[] {
  return differences.map((difference) => ({
    difference,
    losses: [...inEpisode].filter(
      (loss) =>
        declared.has(loss) &&
        makes[loss].has(difference.what) &&
        (loss !== 'no score when ended early' || difference.given === 'nothing'),
    ),
  }))
}
