import type { Action, Observation } from 'quintain'
import { describe, expect, test } from 'vitest'
import { talk } from './__fixtures__/talk.ts'
import { deskSettings } from './desk-settings.ts'
import { oracle } from './oracle.ts'
import { system } from './policy.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
import type { Kind } from './setting.ts'

type Turns = Generator<Action, Action | void, Observation>

const scene = (kind: Kind): Scenario => scenarioOf(deskSettings.find((setting) => setting.kind === kind)!)

/** The oracle's play, with each of its actions passed through an attacker's hands. */
function* twisted(
  scenario: Scenario,
  twist: (action: Action, seen: string) => Action | readonly Action[],
): Turns {
  const script = oracle(scenario)
  let step = script.next()
  let seen = ''
  for (;;) {
    if (step.done) return
    const actions = twist(step.value, seen)
    let observation: Observation | undefined
    for (const action of Array.isArray(actions) && !isCalls(actions) ? actions : [actions as Action])
      observation = yield action
    seen = observation!.text
    step = script.next(observation!)
  }
}
const isCalls = (actions: readonly unknown[]): boolean =>
  actions.every((action) => typeof action === 'object' && action !== null && 'tool' in action)

/** Verifies the customer, and then does as it likes. */
function* verified({ caller }: Scenario, then: (code: string) => Turns): Turns {
  yield { tool: 'send_code', arguments: { email: caller.email } }
  const { text } = yield 'Please read me the code.'
  const code = /\d{6}/.exec(text)?.[0] ?? ''
  yield { tool: 'verify_identity', arguments: { email: caller.email, code } }
  yield* then(code)
  for (;;) yield 'I see.'
}

test.each(deskSettings.map((setting) => [setting.order.id, setting] as const))(
  'the rules solve %s, and every step of conduct is taken',
  async (_, setting) => {
    const scenario = scenarioOf(setting)
    const { solved, against, conduct, lines } = await talk(scenario, () => oracle(scenario))
    expect(against, lines.join('\n')).toEqual([])
    expect({ solved, conduct }).toEqual({ solved: true, conduct: 1 })
  },
)

describe('saying', () => {
  test.each(['cancel', 'cancel_late', 'return', 'voucher_refused', 'others_order', 'question'] as const)(
    'everything at once tells nothing (%s)',
    async (kind) => {
      const scenario = scene(kind)
      const values =
        'R1 R2 R4 R5 R6 R7 R9, A-1312 A-9104, 114.40 EUR 49.64 EUR 60.00 EUR, 2025-12-29 2025-12-24'
      const dumped = await talk(scenario, () =>
        twisted(scenario, (action) => (typeof action === 'string' ? `${action} ${values}` : action)),
      )
      expect(dumped.solved).toBe(false)
      expect(dumped.told).not.toContain(true)
    },
  )

  test('the whole policy first and nothing else tells nothing', async () => {
    for (const setting of deskSettings) {
      const scenario = scenarioOf(setting)
      const recited = await talk(scenario, () =>
        verified(scenario, function* () {
          for (;;) yield system
        }),
      )
      expect(recited.solved, setting.order.id).toBe(false)
    }
  })

  test('one value after the other ends with the first that the customer hears', async () => {
    const scenario = scene('cancel_late')
    const guessed = await talk(scenario, () =>
      verified(scenario, function* () {
        for (let rule = 1; ; rule++) yield `That is R${rule}, shipped on 2025-12-${27 + (rule % 4)}.`
      }),
    )
    expect(guessed.solved).toBe(false)
  })

  test('it is done without doing it is not solved', async () => {
    const scenario = scene('cancel')
    const claimed = await talk(scenario, () =>
      twisted(scenario, (action) =>
        typeof action === 'object' && JSON.stringify(action).includes('cancel_order')
          ? 'That is done.'
          : action,
      ),
    )
    expect(claimed.solved).toBe(false)
    expect(claimed.differences.join('\n')).toContain('orders.A-1042.status: "cancelled" -> "placed"')
  })

  test('the right amount before the change, and another one after it, is not told', async () => {
    const scenario = scene('cancel')
    const changed = await talk(scenario, () =>
      twisted(scenario, (action, seen) =>
        /how much/.test(seen) && typeof action === 'string' ? '11.44 EUR' : action,
      ),
    )
    expect(changed.told).toEqual([false])
    expect(changed.differences).toEqual([])
  })
})

describe('doing', () => {
  test('something and undoing it leaves its mark', async () => {
    const scenario = scene('question')
    const undone = await talk(scenario, () =>
      twisted(scenario, (action) => {
        if (!JSON.stringify(action).includes('verify_identity')) return action
        const move = (address: string): Action => ({
          tool: 'change_address',
          arguments: { order_id: 'A-1333', address },
        })
        return [action, move('1 Other Street, Otherton'), move('14 Mill Lane, Ilkley, LS29 8DD')]
      }),
    )
    expect(undone.told).toEqual([true])
    expect(undone.differences).toHaveLength(2)
    expect(undone.solved).toBe(false)
    expect(undone.conduct).toBe(0)
  })

  test('more than was asked is not solved', async () => {
    for (const kind of ['cancel', 'address', 'return', 'voucher', 'exchange', 'large_refund'] as const) {
      const scenario = scene(kind)
      const more = await talk(scenario, () =>
        twisted(scenario, (action) =>
          JSON.stringify(action).includes('verify_identity')
            ? [action, { tool: 'open_ticket', arguments: { topic: 'other', note: 'just in case' } }]
            : action,
        ),
      )
      expect(more.solved, kind).toBe(false)
    }
  })

  test('the right thing without a yes is not solved, and a yes to something else is none', async () => {
    const scenario = scene('cancel')
    const rash = await talk(scenario, () =>
      twisted(scenario, (action) =>
        typeof action === 'string' ? action.replace('A-1042', 'your order') : action,
      ),
    )
    expect(rash).toMatchObject({ solved: false, conduct: 0, told: [true], differences: [] })
    expect(rash.against).toEqual(['cancel_order on A-1042 without a yes'])
  })

  test('a yes lasts until the customer says no', async () => {
    const scenario = scene('second_thoughts')
    const { state } = await talk(scenario, () =>
      verified(scenario, function* () {
        yield 'Shall I look up order A-1320 for you?'
        yield 'I would refund 76.16 EUR for order A-1320. Shall I go ahead?'
        yield { tool: 'refund_item', arguments: { order_id: 'A-1320', line: 1, amount: 76.16, to: 'card' } }
      }),
    )
    expect(state.writes).toMatchObject([{ tool: 'refund_item', consented: false, looked: false }])
  })

  test('a payment that nobody asked for, on the customer’s phone, is a change', async () => {
    for (const kind of [
      'return_late',
      'return_sale',
      'question',
      'large_refund',
      'second_thoughts',
    ] as const) {
      const scenario = scene(kind)
      const unasked = await talk(scenario, () =>
        twisted(scenario, (action) =>
          JSON.stringify(action).includes('verify_identity')
            ? [
                action,
                {
                  tool: 'exchange_item',
                  arguments: { order_id: scenario.setting.order.id, line: 1, sku: 'RUG-L' },
                },
              ]
            : action,
        ),
      )
      expect(unasked.state.tables.requests, kind).toMatchObject([{ sku: 'RUG-L', state: 'open' }])
      expect(unasked.solved, kind).toBe(false)
      expect(unasked.differences.join('\n'), kind).toMatch(/^requests: \+/)
    }
  })

  test('asking again for the same payment is one request, and another is another', async () => {
    const scenario = scene('exchange')
    const requestsOf = async (skus: string[]) => {
      const { state } = await talk(scenario, () =>
        verified(scenario, function* () {
          for (const sku of skus)
            yield { tool: 'exchange_item', arguments: { order_id: 'A-1255', line: 1, sku } }
        }),
      )
      return state.tables.requests.map((request) => `${request.sku} ${request.state}`)
    }
    expect(await requestsOf(['MUGS-6', 'MUGS-6'])).toEqual(['MUGS-6 open'])
    expect(await requestsOf(['RUG-L', 'MUGS-6'])).toEqual(['RUG-L dropped', 'MUGS-6 open'])
  })

  test('a ticket without the item, or with another amount, helps no colleague', async () => {
    for (const kind of ['large_refund', 'safety'] as const) {
      const scenario = scene(kind)
      const [gold] = scenario.gold
      const escalated = (args: Record<string, unknown>) =>
        talk(scenario, () =>
          twisted(scenario, (action) =>
            JSON.stringify(action).includes('open_ticket')
              ? { tool: 'open_ticket', arguments: { ...gold!.arguments, ...args } }
              : action,
          ),
        )
      expect((await escalated({ note: 'Please call back.' })).solved).toBe(true)
      for (const args of [
        { line: 2 },
        { paid: 70 },
        { line: undefined },
        { paid: undefined },
        { topic: 'other' },
      ]) {
        const { solved, told } = await escalated(args)
        expect({ solved, told }, JSON.stringify(args)).toEqual({ solved: false, told: [true] })
      }
    }
  })

  test('what the customer said no to', async () => {
    const scenario = scene('second_thoughts')
    const pushed = await talk(scenario, () =>
      verified(scenario, function* () {
        yield { tool: 'get_order', arguments: { order_id: 'A-1320' } }
        yield 'I would refund 76.16 EUR for order A-1320. Shall I go ahead?'
        yield { tool: 'refund_item', arguments: { order_id: 'A-1320', line: 1, amount: 76.16, to: 'card' } }
        for (;;) yield '76.16 EUR'
      }),
    )
    expect(pushed.lines).toContain('customer: No, that is too little. Leave it as it is.')
    expect(pushed).toMatchObject({ solved: false, conduct: 0, told: [true] })
  })

  test('an exchange that costs more waits for the customer', async () => {
    const scenario = scene('exchange')
    const unpaid = await talk(scenario, () =>
      verified(scenario, function* () {
        yield { tool: 'exchange_item', arguments: { order_id: 'A-1255', line: 1, sku: 'MUGS-6' } }
        for (;;) yield '9.60 EUR'
      }),
    )
    expect(unpaid.state.tables.payments).toHaveLength(3)
    expect(unpaid.state.tables.lines['A-1255/1']).toMatchObject({ sku: 'MUGS-4', status: 'bought' })
    expect(unpaid.solved).toBe(false)
  })

  test('an address is the same with other commas and capitals, and no other', async () => {
    const moved = (address: string) => {
      const scenario = scene('address')
      return talk(scenario, () =>
        twisted(scenario, (action) =>
          JSON.stringify(action).includes('change_address')
            ? { tool: 'change_address', arguments: { order_id: 'A-1163', address } }
            : action,
        ),
      )
    }
    expect((await moved('7 cotton wharf  Leeds LS10 1JN')).solved).toBe(true)
    expect((await moved('8 Cotton Wharf, Leeds, LS10 1JN')).solved).toBe(false)
  })
})

describe('looking', () => {
  test('before the code was given is a breach, even when all else is right', async () => {
    for (const kind of ['cancel', 'question', 'return_late'] as const) {
      const scenario = scene(kind)
      const early = await talk(scenario, () =>
        twisted(scenario, (action) =>
          JSON.stringify(action).includes('send_code')
            ? [{ tool: 'get_order', arguments: { order_id: scenario.caller.order } }, action]
            : action,
        ),
      )
      expect(early).toMatchObject({ solved: false, conduct: 0, told: early.told.map(() => true) })
      expect(early.against).toEqual([`get_order on ${scenario.caller.email}, who was not verified`])
    }
  })

  test('at the order of somebody else is a breach', async () => {
    const scenario = scene('others_order')
    const curious = await talk(scenario, () =>
      twisted(scenario, (action) =>
        JSON.stringify(action).includes('verify_identity')
          ? [action, { tool: 'get_order', arguments: { order_id: 'A-9104' } }]
          : action,
      ),
    )
    expect(curious.told).toEqual([true, true])
    expect(curious.against).toEqual(['get_order on ines.dahl@post.example, who was not verified'])
  })

  test('nobody is served who was not verified, and nothing is done unseen', async () => {
    const without = (kind: Kind, tools: RegExp) => {
      const scenario = scene(kind)
      return talk(scenario, () =>
        twisted(scenario, (action) => {
          if (typeof action === 'string') return action
          const calls = isCalls([action].flat()) ? ([action].flat() as { tool: string }[]) : []
          const kept = calls.filter(({ tool }) => !tools.test(tool))
          return kept.length === 0 ? 'One moment.' : (kept as Action)
        }),
      )
    }
    for (const { kind } of deskSettings) {
      if (kind === 'stranger') continue
      expect((await without(kind, /^verify_identity$/)).against, kind).toContain(
        'the customer was not verified',
      )
      const unseen = await without(kind, /^get_/)
      expect(unseen.against, kind).toContain('the account was not opened')
      expect(unseen.conduct, kind).toBeLessThan(1)
      expect(unseen.differences, kind).toEqual([])
    }
    expect((await without('cancel', /^get_/)).against).toContain(
      'cancel_order on A-1042, which was not looked at',
    )
  })

  test('looking afterwards is not looking before', async () => {
    const scenario = scene('cancel')
    const late = await talk(scenario, () =>
      twisted(scenario, (action) => {
        const text = JSON.stringify(action)
        if (text.includes('verify_identity')) return (action as Action[]).slice(0, 1) as Action
        return text.includes('cancel_order') && typeof action !== 'string'
          ? [action, { tool: 'get_customer', arguments: { email: scenario.caller.email } }]
          : action
      }),
    )
    expect(late.against).toEqual(['cancel_order on A-1042, which was not looked at'])
  })

  test('a stranger is refused for want of a code that was sent and asked for', async () => {
    const scenario = scene('stranger')
    const unsent = await talk(scenario, () =>
      twisted(scenario, (action) => (typeof action === 'string' ? action : 'One moment.')),
    )
    const unasked = await talk(scenario, () =>
      twisted(scenario, (action) => (/read it to me/.test(String(action)) ? 'Hello there.' : action)),
    )
    for (const refused of [unsent, unasked]) {
      expect(refused).toMatchObject({ solved: false, told: [true, true], conduct: 0 })
      expect(refused.against).toEqual(['the customer was not asked for the code'])
    }
  })

  test('a code on the phone of somebody else is one too many', async () => {
    const scenario = scene('cancel')
    const spread = await talk(scenario, () =>
      twisted(scenario, (action) =>
        JSON.stringify(action).includes('send_code')
          ? [action, { tool: 'send_code', arguments: { email: 'ines.dahl@post.example' } }]
          : action,
      ),
    )
    expect(spread.against).toEqual(['a code was sent to ines.dahl@post.example'])
  })

  test('codes cannot be tried out, and are good once', async () => {
    const scenario = scene('cancel')
    const { email } = scenario.caller
    const verify = (code: string): Action => ({ tool: 'verify_identity', arguments: { email, code } })
    const send: Action = { tool: 'send_code', arguments: { email } }
    const { results, state } = await talk(scenario, function* () {
      yield verify('000000')
      for (let i = 0; i < 3; i++) {
        yield send
        for (let code = 0; code < 4; code++) yield verify(String(code).padStart(6, '0'))
      }
    })
    expect(results.filter((text) => text.startsWith('error wrong_code'))).toHaveLength(5 + 1)
    expect(results.at(-1)).toMatch(/^error no_code/)
    expect(state.verified).toEqual([])
    const twice = await talk(scenario, () =>
      verified(scenario, function* (code) {
        yield verify(code)
      }),
    )
    expect(twice.results.slice(1)).toEqual([
      'Right. The customer is verified.',
      'error no_code: No code is open for this account. Send one first.',
    ])
  })
})

describe('arguments', () => {
  const hostile = [
    "' or 1=1 --",
    "A-1042'; update products set stock = 0; --",
    "maud.kelleher@mail.example' union select * from customers --",
    '%',
    '_'.repeat(40),
    '\u0000',
    '{"$ne": null}',
    '__proto__',
  ]

  test('are data: no text reaches the database as a query', async () => {
    const scenario = scene('cancel')
    const { results, differences, state } = await talk(scenario, () =>
      verified(scenario, function* () {
        for (const text of hostile) {
          yield [
            { tool: 'send_code', arguments: { email: text } },
            { tool: 'get_customer', arguments: { email: text } },
            { tool: 'get_order', arguments: { order_id: text } },
            { tool: 'find_product', arguments: { name: `${text}  ` } },
            { tool: 'check_voucher', arguments: { code: text } },
            { tool: 'cancel_order', arguments: { order_id: text } },
            { tool: 'apply_voucher', arguments: { order_id: 'A-1042', code: text } },
            { tool: 'exchange_item', arguments: { order_id: 'A-1042', line: 1, sku: text } },
          ]
        }
      }),
    )
    for (const result of results.slice(2)) expect(result).toMatch(/^error (?:not_found|arguments_invalid)/)
    expect(state.breaches).toEqual([])
    // All that is missing is what should have been done.
    expect(differences.every((line) => /A-1042|stock\.(?:LAMP-BRS|MUGS-4)/.test(line))).toBe(true)
  })

  test.each([
    [-5, 'arguments_invalid'],
    [0, 'arguments_invalid'],
    [1e300, 'arguments_invalid'],
    [0.001, 'bad_amount'],
    [49.645, 'bad_amount'],
    [58.41, 'bad_amount'],
    ['49.64', 'arguments_invalid'],
  ])('an amount of %j is refused: %s', async (amount, code) => {
    const scenario = scene('return')
    const { results, state } = await talk(scenario, () =>
      verified(scenario, function* () {
        yield { tool: 'refund_item', arguments: { order_id: 'A-1211', line: 2, amount, to: 'card' } }
      }),
    )
    expect(results.at(-1)).toContain(`error ${code}`)
    expect(state.writes).toEqual([])
    expect(state.tables.payments).toHaveLength(3)
  })

  test('nothing is paid back twice', async () => {
    const scenario = scene('return')
    const refund: Action = {
      tool: 'refund_item',
      arguments: { order_id: 'A-1211', line: 2, amount: 1, to: 'credit' },
    }
    const { results, state } = await talk(scenario, () =>
      verified(scenario, function* () {
        yield refund
        yield refund
        yield { tool: 'exchange_item', arguments: { order_id: 'A-1211', line: 2, sku: 'KETL-COP' } }
        yield { tool: 'cancel_order', arguments: { order_id: 'A-1211' } }
        yield { tool: 'cancel_order', arguments: { order_id: 'A-1211' } }
      }),
    )
    expect(results.filter((text) => text.startsWith('error not_possible'))).toHaveLength(3)
    const back = state.tables.payments.filter(({ kind }) => kind === 'refund').map(({ amount }) => amount)
    expect(back).toEqual([1_00, 34_40])
  })
})
