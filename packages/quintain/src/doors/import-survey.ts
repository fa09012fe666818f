import { canonicalJson, framedDigest, QuintainError, sha256, type ToolSpec } from '../core/index.ts'
import type { Conversation, ConversationFormat } from './conversation.ts'
import { readConversations } from './read-conversations.ts'

/** A task of a file of recordings. */
export interface SurveyedTask {
  id: string
  /** The trials that the file has, in order, each with the number of its conversation in the file. */
  trials: Map<number, number>
  split: string
  tags?: readonly string[]
  /** Digest of what the agent was told before anything else, 32 hex digits. */
  digest: string
}

/** What a file of recordings holds, seen by reading all of it once. */
export interface Survey {
  tasks: SurveyedTask[]
  conversations: number
  /** Trials that the file has for other tasks and lacks for these. */
  missing: { task: string; trial: number }[]
  policies: string[]
  /** Settings that every conversation states alike. */
  sampling: Record<string, unknown> | undefined
  /** True where rewards say what success is. */
  success: boolean
  /** True where only some conversations say whether they succeeded, so that nothing is said of success. */
  successOfSome: boolean
  tools: readonly ToolSpec[] | undefined
  /** Digest of all tasks, their secret part included. */
  digest: string
  faults: number
  unscored: number
  notes: number
  /** What was measured, where all conversations that say it say the same. */
  measured: string | undefined
  /** Metrics that conversations have and the format does not name. */
  metrics: string[]
  /** What is true of all conversations of their kind. */
  caveats: string[]
  /** Why what stands in these places is no part of the run. */
  dropped: ReadonlyMap<string, string>
}

/** A file of more that cannot be read is another kind of file. */
const mostDropped = 10_000
/** Names of metrics; more are no names. */
const mostMetrics = 1000

function refuse(path: string, what: string, facts: Record<string, unknown> = {}): QuintainError {
  return new QuintainError('import_invalid', `${path}: ${what} Nothing was written.`, {
    facts: { path, ...facts },
  })
}

/** A grid beyond this many times the conversations is no grid: trials are numbered by something else. */
const sparsest = 2

/**
 * Reads a whole file and checks that a run can be made of it: every conversation readable, no task's trial twice, rewards
 * where the format wants them. Holds a few words of each conversation, never the conversations.
 *
 * With `drop`, what cannot be read, and a trial that was there before, is left out and told in `dropped`.
 *
 * Throws `import_invalid`, which says which conversation.
 */
export async function surveyConversations(
  path: string,
  format: ConversationFormat,
  { drop = false }: { drop?: boolean } = {},
): Promise<Survey> {
  const dropped = new Map<string, string>()
  const refuseOrDrop = (place: string, what: string, facts: Record<string, unknown> = {}) => {
    if (!drop || dropped.size >= mostDropped)
      throw refuse(path, facts['trial'] === undefined ? `${place}${what}` : what, { place, ...facts })
    dropped.set(place, what.replace(/^:? |\.$/g, ''))
  }
  const metrics = new Set<string>(format.metrics)
  const caveats = new Set<string>()
  const measured = new Set<string>()
  const tasks = new Map<string, SurveyedTask>()
  const places: string[] = []
  const policies = new Set<string>()
  const secrets = new Map<string, string>()
  let sampling: string | undefined
  let sameSampling = true
  let said = 0
  let binary = true
  let rewarded = 0
  let unnumbered: string | undefined
  let numbered: string | undefined
  let tools: readonly ToolSpec[] | undefined
  let [faults, unscored, notes] = [0, 0, 0]

  for await (const found of readConversations(path, format, { lenient: drop })) {
    if ('problem' in found) {
      refuseOrDrop(found.place, `: ${found.problem}.`)
      continue
    }
    const conversation = found
    const { place, trial, reward } = conversation
    if (format.needsReward && reward === undefined && conversation.fault === undefined) {
      refuseOrDrop(place, `${named(conversation)} has no reward.`)
      continue
    }
    if (conversation.messages.length === 0 && conversation.fault === undefined) {
      refuseOrDrop(place, `${named(conversation)} has no messages.`)
      continue
    }
    const id = taskOf(conversation)
    let task = tasks.get(id)
    const at = trial ?? task?.trials.size ?? 0
    const earlier = task?.trials.get(at)
    if (earlier !== undefined) {
      const what = `${places[earlier]} and ${place} are both trial ${at} of task ${JSON.stringify(id)}; keep one.`
      refuseOrDrop(place, what, { task: id, trial: at })
      continue
    }
    if (trial === undefined) unnumbered ??= place
    else numbered ??= place
    if (unnumbered !== undefined && numbered !== undefined) {
      throw refuse(
        path,
        `${unnumbered} has no trial number, and ${numbered} has one; number all of them or none.`,
        { place: unnumbered },
      )
    }
    const number = places.push(place) - 1
    if (task === undefined) {
      const { split = 'test', tags } = conversation
      const trials = new Map<number, number>()
      task = {
        id,
        trials,
        split,
        digest: publicDigest(id, conversation),
        ...(tags === undefined ? {} : { tags }),
      }
      tasks.set(id, task)
      secrets.set(id, sha256(canonicalJson(conversation.secret ?? null)))
    }
    task.trials.set(at, number)
    for (const name of Object.keys(conversation.metrics ?? {}))
      if (metrics.size < mostMetrics) metrics.add(name)
    if (conversation.measured !== undefined && measured.size < 2) measured.add(conversation.measured)
    for (const caveat of conversation.caveats ?? []) caveats.add(caveat)
    if (conversation.policy !== undefined) policies.add(conversation.policy)
    const settings = canonicalJson(conversation.sampling ?? {})
    sameSampling &&= sampling === undefined || sampling === settings
    sampling ??= settings
    tools ??= conversation.tools
    if (conversation.fault !== undefined) faults++
    else if (typeof reward === 'number') {
      rewarded++
      binary &&= reward === 0 || reward === 1
    } else if (conversation.success === undefined) unscored++
    if (conversation.success !== undefined) said++
    notes += conversation.notes.length
  }
  if (places.length === 0) {
    const [first] = dropped
    const why = first === undefined ? '' : ` ${dropped.size} could not be read; ${first[0]}: ${first[1]}.`
    throw refuse(path, `there is no conversation in it.${why}`)
  }

  const sorted = inOrder([...tasks.values()])
  return {
    tasks: sorted,
    conversations: places.length,
    missing: numbered === undefined ? [] : missingOf(sorted, places.length),
    policies: [...policies],
    sampling: sameSampling ? (JSON.parse(sampling ?? '{}') as Record<string, unknown>) : undefined,
    success:
      format.isSuccess !== undefined ||
      said === places.length - faults ||
      (said === 0 && rewarded > 0 && binary),
    successOfSome: said > 0 && said < places.length - faults,
    tools,
    digest: framedDigest([
      format.name,
      ...sorted.flatMap(({ id, digest }) => [id, digest, secrets.get(id) ?? '']),
    ]),
    faults,
    unscored,
    notes,
    measured: measured.size === 1 ? [...measured][0] : undefined,
    metrics: [...metrics],
    caveats: [...caveats],
    dropped,
  }
}

function named({ task, trial }: Conversation): string {
  return task === undefined ? '' : ` (task ${task}${trial === undefined ? '' : `, trial ${trial}`})`
}

/** The task of a conversation: the one it names, or what it asks, by digest, since what people write is no name. */
export function taskOf(conversation: Pick<Conversation, 'task' | 'messages'>): string {
  return conversation.task ?? `case-${sha256(questionOf(conversation)).slice(0, 8)}`
}

/** What a conversation asks, so that the same question is the same text: its first user message, without case, spacing and outer punctuation. */
export function questionOf({ messages }: Pick<Conversation, 'messages'>): string {
  const first = messages.find(({ role }) => role === 'user')
  const content = first?.content ?? ''
  const text = typeof content === 'string' ? content : canonicalJson(content)
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '')
}

/** What the agent is told is the system message here: first user messages of a simulated user differ between trials. */
function publicDigest(id: string, { messages }: Conversation): string {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  return sha256(canonicalJson({ id, system })).slice(0, 32)
}

/** Ids that are numbers in the order of numbers, others as they came. */
function inOrder(tasks: SurveyedTask[]): SurveyedTask[] {
  const numeric = tasks.every(({ id }) => /^\d{1,15}$/.test(id))
  return numeric ? tasks.sort((a, b) => Number(a.id) - Number(b.id)) : tasks
}

/** Where every task was tried the same number of times, a trial that one lacks is missing, and not unplanned. */
function missingOf(tasks: readonly SurveyedTask[], conversations: number): { task: string; trial: number }[] {
  const all = new Set(tasks.flatMap(({ trials }) => [...trials.keys()]))
  if (all.size * tasks.length > sparsest * conversations) return []
  const trials = [...all].sort((a, b) => a - b)
  return tasks.flatMap(({ id, trials: has }) =>
    trials.filter((trial) => !has.has(trial)).map((trial) => ({ task: id, trial })),
  )
}
