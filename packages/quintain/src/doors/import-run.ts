import { rename, rm, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { type Fault, Journal, type ManifestRecord, type OrderRecord, QuintainError } from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import type { Conversation, ConversationFormat, ReadConversation } from './conversation.ts'
import { type Survey, type SurveyedTask, surveyConversations, taskOf } from './import-survey.ts'
import { attemptOf, component, type Importing, importedRubric } from './imported-attempt.ts'
import { formatNamed, formatOf, readConversations } from './read-conversations.ts'

export interface ImportOptions {
  /** Folder of the run; it must not be there yet. */
  out: string
  /** `tau-bench`, `verifiers`, `inspect` or `chat`, or a format itself; seen from the file when absent. */
  as?: string | ConversationFormat
  /** Who played; what the file says when absent, and `imported:FILE` where it says nothing. */
  policy?: string
  /** Name of what was measured; the format's name when absent. Runs of another name are not compared. */
  name?: string
  /** Leave out what cannot be read, and tell of it, in place of refusing the file. */
  drop?: boolean
  /** Settings of the model, where the file does not say them. */
  sampling?: Record<string, unknown>
}

/** What came of an import. */
export interface ImportedRun {
  dir: string
  format: string
  policy: string
  orders: number
  tasks: number
  /** What a reader of the figures must know. */
  warnings: string[]
  /** What was left out of it, a line each: the place, and why. */
  dropped: string[]
}

/**
 * Makes a run of recorded conversations, so that reports, comparisons and `show` read them: an order and an attempt for
 * each, with the reward that the original gave. Nothing is graded again; the rubric says that the rewards are imported.
 *
 * A trial that the file has for other tasks and lacks for one is an order that ended in a fault, so that coverage shows it.
 * Gold answers and fields of unknown meaning go to the private records.
 *
 * The file is read twice, in little memory, and the run appears under its name only when it is whole.
 *
 * Throws `import_invalid` (a file, or a conversation in it, that cannot be read; it says which), `usage` (unknown
 * format), `run_exists`, `disk_full`, `journal_io`.
 *
 * @example await importRun('gpt-4o-airline.json', { as: 'tau-bench', out: 'runs/airline' })
 */
export async function importRun(path: string, options: ImportOptions): Promise<ImportedRun> {
  const { out, as, drop = false } = options
  const format = as === undefined ? await formatOf(path) : typeof as === 'string' ? formatNamed(as) : as
  if ((await stat(out).catch(() => undefined)) !== undefined) {
    throw new QuintainError('run_exists', `${out} is there already; choose another folder.`, {
      facts: { dir: out },
    })
  }
  const before = await stampOf(path)
  const survey = await surveyConversations(path, format, { drop })
  if (
    survey.sampling !== undefined &&
    Object.keys(survey.sampling).length === 0 &&
    options.sampling !== undefined
  )
    survey.sampling = options.sampling
  const policy = options.policy ?? policyOf(survey, path)
  const manifest = manifestOf(survey, format, {
    policy,
    name: options.name ?? survey.measured ?? format.name,
  })
  const orders = ordersOf(survey)
  // A name that no other import uses, so that nothing of anybody else is ever taken away.
  const draft = `${out}.importing-${process.pid}-${manifest.id.slice(0, 8)}`
  const journal = await Journal.create(draft, manifest)
  try {
    try {
      await journal.appendOrders([manifest.request, ...orders.values()])
      await writeAttempts(journal, orders, readConversations(path, format, { lenient: drop }), {
        survey,
        format,
        policy,
      })
      if ((await stampOf(path)) !== before) throw changed(path)
    } finally {
      await journal.close()
    }
    await rename(draft, out)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
  return {
    dir: out,
    format: format.name,
    policy,
    orders: orders.size,
    tasks: survey.tasks.length,
    warnings: warningsOf(survey),
    dropped: [...survey.dropped].map(([place, why]) => `${place}: ${why}`),
  }
}

function changed(path: string): QuintainError {
  return new QuintainError('import_invalid', `${path} changed while it was read; import it again.`, {
    facts: { path },
  })
}

/** What changes when a file is written to. */
async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return `${found?.size} ${found?.mtimeMs}`
}

function policyOf({ policies }: Survey, path: string): string {
  if (policies.length > 0) return policies.join(' and ')
  return `imported:${basename(path, extname(path))}`
}

function manifestOf(
  survey: Survey,
  format: ConversationFormat,
  { policy, name }: { policy: string; name: string },
): ManifestRecord {
  const repeats = Math.max(...survey.tasks.map(({ trials }) => trials.size))
  const { sampling } = survey
  return {
    schema: 'quintain.run',
    v: 1,
    id: crypto.randomUUID(),
    created: new Date().toISOString(),
    quintain: quintainVersion,
    node: process.versions.node,
    environment: {
      name,
      version: 'imported',
      contract: 1,
      digest: survey.digest,
      // Nothing to load: what these conversations were held in is elsewhere.
      reference: 'imported',
      options: {},
      rewards: { [component]: { kind: 'reward', weight: 1 } },
      metrics: survey.metrics,
      success: survey.success,
    },
    rubric: importedRubric(format),
    seats: {
      agent: {
        policy,
        harness: 'imported',
        ...(sampling === undefined || Object.keys(sampling).length === 0 ? {} : { sampling }),
      },
    },
    seed: 'imported',
    limits: {},
    isolation: 'inline',
    maxTries: 1,
    request: { schema: 'quintain.request', v: 1, repeats },
  }
}

function keyOf(task: string, trial: number): string {
  return `${task}#${trial}`
}

/** An order for each conversation, and for each that is missing, by task and trial. */
function ordersOf({ tasks, missing }: Survey): Map<string, OrderRecord> {
  const orders = new Map<string, OrderRecord>()
  const lacking = Map.groupBy(missing, ({ task }) => task)
  for (const [index, task] of tasks.entries()) {
    const trials = [...task.trials.keys(), ...(lacking.get(task.id) ?? []).map(({ trial }) => trial)]
    for (const trial of trials.sort((a, b) => a - b)) {
      const order = orderOf(task, index, trial, orders.size)
      orders.set(order.id, order)
    }
  }
  return orders
}

function orderOf(
  { id, split, digest, tags }: SurveyedTask,
  index: number,
  repeat: number,
  seq: number,
): OrderRecord {
  return {
    schema: 'quintain.order',
    v: 1,
    id: keyOf(id, repeat),
    seq,
    task: id,
    index,
    split,
    repeat,
    group: id,
    seed: 0,
    taskDigest: digest,
    ...(tags === undefined ? {} : { tags: [...tags] }),
  }
}

async function writeAttempts(
  journal: Journal,
  orders: ReadonlyMap<string, OrderRecord>,
  conversations: AsyncIterable<ReadConversation>,
  importing: Importing,
): Promise<void> {
  const { survey } = importing
  const now = new Date().toISOString()
  const next = new Map<string, number>()
  let read = 0
  for await (const conversation of conversations) {
    if (survey.dropped.has(conversation.place)) continue
    if ('problem' in conversation) throw changed(conversation.place)
    read++
    const task = taskOf(conversation)
    const trial = conversation.trial ?? next.get(task) ?? 0
    next.set(task, trial + 1)
    const order = orders.get(keyOf(task, trial))
    if (order === undefined) throw changed(conversation.place)
    journal.appendAttempt(attemptOf(order, conversation, importing, now))
    await journal.ready()
  }
  if (read !== survey.conversations) throw changed('the file')
  for (const { task, trial } of survey.missing) {
    const fault: Fault = {
      owner: 'platform',
      stage: 'import',
      code: 'not_in_file',
      message: `The file has no trial ${trial} of task ${task}, and has it of other tasks.`,
      retryable: false,
    }
    const absent: Conversation = { place: '', messages: [], notes: [], outcome: 'cancelled', fault }
    journal.appendAttempt(attemptOf(orders.get(keyOf(task, trial))!, absent, importing, now))
  }
  await journal.flush()
}

function warningsOf(survey: Survey): string[] {
  const { missing, policies, faults, unscored, successOfSome, notes, caveats } = survey
  const warnings: string[] = [...caveats]
  if (missing.length > 0) {
    const shown = missing.slice(0, 5).map(({ task, trial }) => `trial ${trial} of task ${task}`)
    const more = missing.length > shown.length ? ` and ${missing.length - shown.length} more` : ''
    warnings.push(
      `The file lacks ${shown.join(', ')}${more}: they are orders that ended in a fault, so that they are not left out of the count.`,
    )
  }
  if (faults > 0) {
    warnings.push(
      faults === 1
        ? "A conversation is an exception of the original run, whatever reward it wrote for it. Here it is a fault and nobody's score."
        : `${faults} conversations are exceptions of the original run, whatever rewards it wrote for them. Here they are faults and nobody's score.`,
    )
  }
  if (unscored > 0)
    warnings.push(`${unscored} of the conversations have no reward: they are unscored, not 0.`)
  if (successOfSome) {
    warnings.push('Only some conversations say whether they succeeded, so the run says nothing of success.')
  }
  if (policies.length > 1) {
    warnings.push(
      `The file has conversations of ${policies.length} models (${policies.join(', ')}); the figures are of all of them together.`,
    )
  }
  if (notes > 0) {
    warnings.push(
      `${notes} oddities in messages were kept as near as can be (\`quintain show --private\` has them, per conversation).`,
    )
  }
  return warnings
}
