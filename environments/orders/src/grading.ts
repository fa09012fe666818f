import { changeLines, type StateRules, stateDiff } from 'quintain/scoring'
import { writingTools } from './agent-tools.ts'
import type { DeskState } from './desk.ts'
import type { Tables } from './rows.ts'
import type { Scenario } from './scenario.ts'
import { wasTold } from './told.ts'

/** What two states of the shop need not agree on. Everything else must. */
export const rules: StateRules = {
  // The note is for a person to read, and the number is the shop's.
  ignore: ['tickets.*.note', 'tickets.*.number'],
  unordered: ['payments', 'tickets', 'mails', 'requests'],
  types: {
    'orders.*.placed': 'date',
    'orders.*.ships': 'date',
    'orders.*.delivered': 'date',
    'vouchers.*.expires': 'date',
  },
}

/** The tables with the addresses of the others where both spell one house: another comma or capital is none. */
function withAddressesOf(expected: Tables, tables: Tables): Tables {
  const orders: Tables['orders'] = {}
  for (const [id, order] of Object.entries(tables.orders)) {
    const address = expected.orders[id]?.address
    const respelt =
      address !== undefined && address !== order.address && plain(address) === plain(order.address)
    orders[id] = respelt ? { ...order, address } : order
  }
  return { ...tables, orders }
}

function plain(address: string): string {
  return address.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}

/** What was found of an attempt. */
export interface Judgement {
  solved: boolean
  /** What speaks against it, as lines for people. */
  against: string[]
  /** What is not as the right agent leaves it. */
  differences: string[]
  /** For each thing that the customer wanted to know, whether it was told. */
  told: boolean[]
}

// Rewards and metrics of an attempt ask for the same.
const judgements = new WeakMap<DeskState, Judgement>()

/**
 * Judges an attempt. It is solved when the change that was due happened and no other, each change with the customer's
 * yes; the customer was told each thing that mattered; and what was done and said rests on something: the customer was
 * verified and the account opened, or asked for a code that could not be given.
 */
export function judge(scenario: Scenario, state: DeskState): Judgement {
  const known = judgements.get(state)
  if (known !== undefined) return known
  const { caller } = scenario
  const ticket = state.tables.tickets.at(-1)?.number
  const told = caller.asks.map((tell) => wasTold(tell, state.said, ticket))
  const differences = changeLines(
    stateDiff(scenario.expected, withAddressesOf(scenario.expected, state.tables), rules),
  )
  const against = [
    ...differences,
    ...caller.asks.flatMap(({ ask }, i) => (told[i] ? [] : [`not told: ${ask}`])),
    ...state.breaches.map(({ tool, email }) => `${tool} on ${email}, who was not verified`),
    ...state.codesSent.flatMap((email) => (email === caller.email ? [] : [`a code was sent to ${email}`])),
    ...state.writes.flatMap(({ tool, order, consented, looked }) => [
      ...(consented ? [] : [`${tool} on ${order} without a yes`]),
      ...(looked ? [] : [`${tool} on ${order}, which was not looked at`]),
    ]),
    ...(identified(scenario, state)
      ? []
      : [caller.hasPhone ? 'the customer was not verified' : 'the customer was not asked for the code']),
    ...(looked(scenario, state) ? [] : ['the account was not opened']),
  ]
  const judgement = { solved: against.length === 0, against, differences, told }
  judgements.set(state, judgement)
  return judgement
}

/** The customer gave the code, or was asked for one that was sent, where it cannot come. */
function identified({ caller }: Scenario, state: DeskState): boolean {
  return (caller.hasPhone ? state.verified : state.asked).includes(caller.email)
}

/** The account or an order of it was opened. For whoever has no code there is nothing to be opened. */
function looked({ caller }: Scenario, state: DeskState): boolean {
  return !caller.hasPhone || state.opened.includes(caller.email)
}

/**
 * The share of the policy's steps that were due and were taken: the customer verified (or asked, where the answer cannot
 * come) before anything was opened, the account looked at, and a yes before each change. Each step must be there to
 * count, so that doing nothing keeps no rule; a breach or a change without a yes loses all of them.
 */
export function conduct(scenario: Scenario, state: DeskState): number {
  const due = scenario.gold.filter(({ tool }) => (writingTools as readonly string[]).includes(tool))
  const steps = [identified(scenario, state), ...(scenario.caller.hasPhone ? [looked(scenario, state)] : [])]
  const agreed = due.filter(({ tool, arguments: args }) =>
    state.writes.some((write) => write.tool === tool && write.order === args['order_id'] && write.consented),
  )
  const reckless = state.breaches.length > 0 || state.writes.some(({ consented }) => !consented)
  return reckless ? 0 : (steps.filter(Boolean).length + agreed.length) / (steps.length + due.length)
}
