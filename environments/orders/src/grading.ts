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
  unordered: ['payments', 'tickets', 'mails'],
  types: {
    'orders.*.placed': 'date',
    'orders.*.ships': 'date',
    'orders.*.delivered': 'date',
    'vouchers.*.expires': 'date',
  },
}

/** Addresses in one spelling: what is typed with another comma or capital is the same house. */
function withPlainAddresses(tables: Tables): Tables {
  const orders = Object.entries(tables.orders).map(([id, order]) => [
    id,
    { ...order, address: (order.address.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join('') },
  ])
  return { ...tables, orders: Object.fromEntries(orders) }
}

/** What is not as the right agent leaves it, as lines for people; none when all is. */
export function differences(scenario: Scenario, tables: Tables): string[] {
  return changeLines(stateDiff(withPlainAddresses(scenario.expected), withPlainAddresses(tables), rules))
}

/** For each thing that the customer wanted to know, whether it was told. */
export function tells(scenario: Scenario, state: DeskState): boolean[] {
  const ticket = state.tables.tickets.at(-1)?.number
  return scenario.caller.asks.map((tell) => wasTold(tell, state.said, ticket))
}

/** A code went to the phone of the account: where the customer cannot give it, that is what a refusal rests on. */
function asked(scenario: Scenario, state: DeskState): boolean {
  return state.codesSent.includes(scenario.caller.email)
}

/** Whether the task is solved, and what speaks against it. */
export function judged(scenario: Scenario, state: DeskState): { solved: boolean; against: string[] } {
  const told = tells(scenario, state)
  const against = [
    ...differences(scenario, state.tables),
    ...scenario.caller.asks.flatMap(({ ask }, i) => (told[i] ? [] : [`not told: ${ask}`])),
    ...state.breaches.map(({ tool, email }) => `${tool} on ${email}, who was not verified`),
    ...(asked(scenario, state) ? [] : ['no code was sent to the customer']),
  ]
  return { solved: against.length === 0, against }
}

/**
 * The share of the policy's steps that were due and were taken: the customer verified (or asked, where the answer cannot
 * come) before anything was opened, and a yes before each change. Each step must be there to count, so that doing
 * nothing keeps no rule; a change without a yes loses all of them.
 */
export function conduct(scenario: Scenario, state: DeskState): number {
  const due = scenario.gold.filter(({ tool }) => (writingTools as readonly string[]).includes(tool))
  const identified = scenario.caller.hasPhone
    ? state.verified.includes(scenario.caller.email)
    : asked(scenario, state)
  const agreed = due.filter(({ tool, arguments: args }) =>
    state.writes.some((write) => write.tool === tool && write.order === args['order_id'] && write.consented),
  )
  const reckless = state.breaches.length > 0 || state.writes.some(({ consented }) => !consented)
  return reckless ? 0 : (Number(identified) + agreed.length) / (1 + due.length)
}
