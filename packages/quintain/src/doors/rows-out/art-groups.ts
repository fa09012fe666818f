import type { CallRecord, TrajectoryRecord, VerdictSummary } from '../../core/index.ts'
import { type CallTokens, readCallTokens } from '../../rows/call-tokens.ts'
import { type ChatRow, classifyCalls, type RowsOptions, trainingRows } from '../../rows/index.ts'
import { type WireMessage, type WireTool, wireMessage, wireTool } from './chat-wire.ts'
import { float32Digits } from './float32-digits.ts'
import type { Lineage, RunLineage } from './lineage.ts'

type Scalar = string | number | boolean | null

/** `Choice` of OpenAI's chat API; a token is its id (`token_id:17`), as vLLM writes ids in place of texts. */
export interface ArtChoice {
  finish_reason: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  index: 0
  message: WireMessage
  logprobs: {
    content: { token: string; bytes: null; logprob: number; top_logprobs: [] }[]
    refusal: null
  } | null
}

interface ArtHistory {
  messages_and_choices: (WireMessage | ArtChoice)[]
  tools: WireTool[] | null
}

/** `art.Trajectory` in JSON. */
export interface ArtTrajectory extends ArtHistory {
  additional_histories: ArtHistory[]
  reward: number
  initial_policy_version: number | null
  final_policy_version: number | null
  metrics: Record<string, number | boolean>
  metadata: Record<string, Scalar>
  logs: string[]
}

/** `art.TrajectoryGroup` in JSON: a task with its attempts. What has no reward is an exception, and no trajectory. */
export interface ArtGroup {
  lineage: RunLineage & { group: string; runs: string[] }
  trajectories: ArtTrajectory[]
  exceptions: { type: string; message: string; traceback: string }[]
  metadata: Record<string, Scalar>
  metrics: Record<string, number>
  logs: string[]
}

/**
 * An attempt as a trajectory of ART. What a model said is a choice, with the ids and log-probabilities of its tokens where
 * they are known as they were sampled and null where not; everything else is a plain message, which ART does not train on.
 * Conversations beside the main one are additional histories. A word says why there is none: nothing was
 * sampled, or what was is truncated and not wanted.
 *
 * ART renders what stands between choices by the chat template, so that what the model saw is only as exact as that.
 *
 * Source: OpenPipe/ART, src/art/trajectories.py, src/art/types.py, src/art/preprocessing/tokenize.py (0.5.18).
 */
export function artTrajectory(
  trajectory: TrajectoryRecord,
  lineage: Lineage,
  {
    verdict,
    reward,
    seat,
    ...options
  }: RowsOptions & { verdict: VerdictSummary; reward: number; seat: string },
): ArtTrajectory | 'no_calls' | 'truncated' {
  const { rows, report } = trainingRows(trajectory, { ...options, seat, verdict, textOnly: true })
  const main = mainRow(trajectory, rows, seat)
  if (main === undefined) return report.refused.length > 0 ? 'truncated' : 'no_calls'
  const tokens = readCallTokens(trajectory.calls, options.tokens)
  const callOf = new Map(trajectory.calls.map(({ output }, at) => [output, at]))
  const histories = [main, ...rows.filter((row) => row !== main)].map((row): ArtHistory => {
    const nodes = nodesOf(row, trajectory)
    return {
      messages_and_choices: row.messages.map((message, at) => {
        const wire = wireMessage(message)
        const call = row.trained[at] ? callOf.get(nodes[at]!) : undefined
        return call === undefined ? wire : choiceOf(wire, trajectory.calls[call]!, tokens[call]!)
      }),
      tools: row.tools === undefined ? null : row.tools.map(wireTool),
    }
  })
  const [{ messages_and_choices, tools }, ...additional_histories] = histories as [
    ArtHistory,
    ...ArtHistory[],
  ]
  const versions = trajectory.calls
    .filter((call) => call.seat === seat)
    .flatMap(({ policySpans }) => policySpans?.map(({ version }) => version) ?? [])
  return {
    messages_and_choices,
    tools,
    additional_histories,
    reward,
    initial_policy_version: wholeOf(versions[0]),
    final_policy_version: wholeOf(versions.at(-1)),
    metrics: metricsOf(verdict),
    metadata: { ...lineage },
    logs: [],
  }
}

/** Whether ART would not train on something that a model said here, for want of its tokens. */
export function lacksTokens({ messages_and_choices, additional_histories }: ArtTrajectory): boolean {
  const all = [messages_and_choices, ...additional_histories.map((history) => history.messages_and_choices)]
  return all.flat().some((one) => 'logprobs' in one && one.logprobs === null)
}

/** The conversation that ends with the last call of the main one. */
function mainRow(trajectory: TrajectoryRecord, rows: readonly ChatRow[], seat: string): ChatRow | undefined {
  const end = classifyCalls(trajectory, seat).lastIndexOf('kept')
  const output = trajectory.calls[end]?.output
  return rows.find(({ branch }) => branch === output) ?? rows[0]
}

/** The nodes of a row's messages, from the root on. */
function nodesOf({ branch }: ChatRow, { nodes }: TrajectoryRecord): number[] {
  const found: number[] = []
  for (let node = branch; node >= 0; node = nodes[node]!.parent) found.push(node)
  return found.reverse()
}

function choiceOf(
  message: WireMessage,
  { finish }: CallRecord,
  tokens: CallTokens | { problem: string },
): ArtChoice {
  const known = 'ids' in tokens && tokens.problem === undefined
  const logprobs = known ? float32Digits(tokens.logprobs!) : []
  return {
    finish_reason:
      finish === 'length' || finish === 'tool_calls' || finish === 'content_filter' ? finish : 'stop',
    index: 0,
    message,
    logprobs: known
      ? {
          content: Array.from(tokens.ids.subarray(tokens.promptLength), (id, at) => ({
            token: `token_id:${id}`,
            bytes: null,
            logprob: logprobs[at]!,
            top_logprobs: [],
          })),
          refusal: null,
        }
      : null,
  }
}

function metricsOf({ rewards, metrics, success }: VerdictSummary): ArtTrajectory['metrics'] {
  const values: [string, number | boolean | null][] = [
    ...Object.entries({ ...rewards, ...metrics }),
    ['success', success],
  ]
  return Object.fromEntries(values.filter((entry): entry is [string, number | boolean] => entry[1] !== null))
}

/** Versions of weights are whole numbers to ART, and any text here. */
function wholeOf(version: string | undefined): number | null {
  return version !== undefined && /^\d{1,15}$/.test(version) ? Number(version) : null
}
