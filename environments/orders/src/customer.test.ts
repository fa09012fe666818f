import { describe, expect, test } from 'vitest'
import { customer, customerSystem } from './customer.ts'
import { deskSettings } from './desk-settings.ts'
import { euros } from './money.ts'
import { scenarioOf } from './scenario.ts'
import type { Kind } from './setting.ts'

const callerOf = (kind: Kind) => scenarioOf(deskSettings.find((setting) => setting.kind === kind)!).caller

/** What the customer answers to messages, one after the other; calls are shown by their tool. */
function hears(kind: Kind, ...messages: string[]): string[] {
  const script = customer(callerOf(kind))
  const said: string[] = []
  const seen = (text: string) => ({ text, messages: [], results: [] })
  let step = script.next()
  for (const message of messages) {
    step = script.next(seen(message))
    while (!step.done && typeof step.value !== 'string') {
      said.push(`(${JSON.stringify(step.value).match(/"tool":"(\w+)"/)?.[1]})`)
      const phone = 'Message: Your code is 123456.\nBank: confirm a payment of 9.60 EUR?'
      step = script.next(seen(said.at(-1) === '(confirm_payment)' ? 'You have paid 9.60 EUR.' : phone))
    }
    if (!step.done) said.push(step.value as string)
  }
  return said
}

describe('the scripted customer', () => {
  test.each([
    ['Hello! Could you please give me the e-mail address on your account?', /maud\.kelleher@mail\.example/],
    ['Thanks. Could you provide your order number and full name?', /Maud Kelleher.*A-1042/],
    ['Would you like me to go ahead and cancel order A-1042 for 114.40 EUR?', /^Yes/],
    ['I will cancel A-1042 and refund 114.40 EUR to your card. Do you confirm?', /^Yes/],
    ['Your order is cancelled. Is there anything else I can help you with?', /^So how much/],
    ["I'm sorry to hear that! May I cancel it for you?", /^Yes/],
  ])('hears %j', (message, answer) => {
    expect(hears('cancel', message).at(-1)).toMatch(answer)
  })

  test('reads the code from the phone, and only when asked for it', () => {
    expect(hears('cancel', 'I have sent a code to your phone. Please read it to me.')).toEqual([
      '(read_phone)',
      'The code is 123456.',
    ])
    expect(hears('cancel', 'The code is correct, thank you.')).toEqual(['So how much do I get back?'])
    expect(hears('stranger', 'Could you read me the code?').at(-1)).toMatch(/do not have that phone/)
  })

  test('confirms a payment on the phone', () => {
    expect(hears('exchange', 'Please confirm the payment of 9.60 EUR in your bank app.')).toEqual([
      '(read_phone)',
      '(confirm_payment)',
      'I have confirmed it.',
    ])
  })

  test('insists once when refused, takes nothing else, and then asks what it wants to know', () => {
    expect(
      hears(
        'cancel_late',
        'I am sorry, A-1107 has been shipped, and R4 does not allow it.',
        'There is nothing that I can do. Shall I open a ticket instead?',
        'All right.',
        'R4 or R5.',
        'R4.',
        'On 29 December.',
      ),
    ).toEqual([
      'But it has not even arrived here! Surely you can stop it?',
      'No, thank you. Leave everything as it is.',
      'Which of your rules is that, by its number?',
      'You name more than one. Which of your rules is that, by its number?',
      'And on which day was it shipped?',
      '(hang_up)',
    ])
  })

  test('agrees to a proposal that repeats what it has said', () => {
    const ask = 'Has it been opened, and would you like the money on your card or as store credit?'
    const propose =
      'As it was opened, I would refund 49.64 EUR to your card, not as store credit. Shall I go ahead?'
    expect(hears('return', ask, propose)).toEqual([
      'I have used it. Back to my card, please.',
      'Yes, please go ahead.',
    ])
  })

  test('tells the code of the phone from that of a voucher', () => {
    expect(hears('voucher', 'Which voucher code do you have?')).toEqual(['The voucher is WINTER20.'])
    expect(
      hears('voucher', 'Before I look at your voucher, please read me the code sent to your phone.'),
    ).toEqual(['(read_phone)', 'The code is 123456. The voucher is WINTER20.'])
  })

  test('says no only to the amount', () => {
    expect(hears('second_thoughts', 'Shall I look it up for you?')).toEqual(['Yes, please go ahead.'])
    expect(hears('second_thoughts', 'You would get 76.16 EUR. Shall I go ahead?')[0]).toMatch(/^No/)
  })

  test('gives up on who says nothing', () => {
    expect(hears('cancel', ...Array<string>(10).fill('')).at(-1)).toBe('(hang_up)')
  })
})

test('a model that plays the customer is told what to want and not what is right', () => {
  for (const setting of deskSettings) {
    const { caller } = scenarioOf(setting)
    const text = customerSystem(caller)
    for (const { kind, ask, value } of caller.asks) {
      expect(text).toContain(ask)
      if (value !== undefined && kind !== 'rule')
        expect(text).not.toContain(kind === 'money' ? euros(Number(value)) : value)
    }
  }
})
