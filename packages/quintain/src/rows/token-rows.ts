import type { CallRecord, TrajectoryRecord } from '../core/index.ts'
import { causeOf } from './break-cause.ts'
import { type CallTokens, readCallTokens } from './call-tokens.ts'
import { Lineage } from './lineage.ts'
import { RowBuilder } from './row-builder.ts'
import type { Break, Refusal } from './training-row.ts'

/** Rows of tokens before they are cut and weighed. */
export interface BuiltRows {
  rows: RowBuilder[]
  breaks: Break[]
  refused: Refusal[]
}

/**
 * Puts calls into rows. A call whose prompt begins with exactly what an earlier one was asked and gave, token by token,
 * goes on in its row; any other begins a row, in which all of its prompt is context: a token that was sampled after
 * another beginning is not a sample of this one.
 */
export function buildTokenRows(
  trajectory: TrajectoryRecord,
  trained: ReadonlySet<number>,
  chunk: Uint8Array | undefined,
): BuiltRows {
  const { nodes, calls } = trajectory
  const tokens = readCallTokens(calls, chunk)
  const line = new Lineage(trajectory)
  const built: BuiltRows = { rows: [], breaks: [], refused: [] }
  const rowOf = new Map<number, RowBuilder>()
  for (const [at, call] of calls.entries()) {
    if (!trained.has(at)) continue
    const own = tokens[at]!
    if (!('ids' in own) || own.problem !== undefined) {
      built.refused.push({ call: at, reason: own.problem! })
      continue
    }
    const prompt = own.ids.subarray(0, own.promptLength)
    const parent = line.parentOf(call)
    const from = parent ?? sameTokensBefore(call)
    let row = from === undefined ? undefined : rowThatEndsWith(from, prompt)
    if (row === undefined) {
      const found = breakAt(at, prompt, parent)
      if (found !== undefined) built.breaks.push(found)
      row = new RowBuilder()
      built.rows.push(row)
    }
    row.add(at, call, own)
    rowOf.set(at, row)
    line.add(at)
  }
  return built

  /** The call whose tokens a prompt begins with although its messages do not, as where a program trims what it sends back. */
  function sameTokensBefore({ tokens: refs }: CallRecord): number | undefined {
    const { base, keep } = refs!.prompt!
    return base !== null && rowOf.has(base) && keep === idsOf(base).length ? base : undefined
  }

  /** The row that ends with a call, where a prompt begins with all of it. */
  function rowThatEndsWith(from: number, prompt: Int32Array): RowBuilder | undefined {
    const row = rowOf.get(from)!
    const before = idsOf(from)
    return row.end === from && commonLength(prompt, before) === before.length ? row : undefined
  }

  function breakAt(at: number, prompt: Int32Array, parent: number | undefined): Break | undefined {
    const call = calls[at]!
    // Where another call went on from the same place in the same row, this one has left what that one said.
    const other = parent === undefined ? undefined : rowOf.get(parent)!.callAfter(parent)
    const after = other ?? parent ?? line.leftBy(call)
    // Sampling an answer again is no break.
    if (after === undefined || line.wasAsked(call)) return undefined
    const before = idsOf(after)
    const common = commonLength(prompt, before)
    const cause = causeOf({
      prompt,
      before,
      at: common,
      goesOn: after === parent,
      sameTools: call.tools === calls[after]!.tools,
      sampledAt: (place) => {
        const sampler = rowOf.get(after)!.samplerOf(place)
        return sampler === undefined ? undefined : nodes[calls[sampler]!.output]
      },
    })
    return { call: at, after, at: common, of: before.length, cause }
  }

  function idsOf(call: number): Int32Array {
    return (tokens[call] as CallTokens).ids
  }
}

function commonLength(a: Int32Array, b: Int32Array): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a[at] === b[at]) at++
  return at
}
