import { expect, test } from 'vitest'
import { system } from './policy.ts'
import { type Tell, valuesIn, wasTold } from './told.ts'

test.each([
  ['money', 'You get 49.64 EUR back.', '4964'],
  ['money', '€49.64', '4964'],
  ['money', 'That is 42 for the mugs.', '4200'],
  ['money', '1,250.00 EUR', '125000'],
  ['money', '58.40 EUR less 15 %, so 49.64 EUR', undefined],
  ['money', 'Order A-1042 of 2025-12-30 by T-12345', undefined],
  ['money', '58.40 EUR of 2 items', '5840'],
  ['day', 'It shipped on 29 December.', '12-29'],
  ['day', 'It shipped on December 29, 2025.', '12-29'],
  ['day', 'Delivered 2025-11-24, last day 2025-12-24', undefined],
  ['count', 'We have 37 left.', '37'],
  ['count', 'There are 37 of 1,000, at 12.50 EUR', undefined],
  ['count', '37 at 236.00 EUR, as of 2026-01-01', '37'],
  ['rule', 'That is R4.', 'R4'],
  ['rule', 'That is rule 4', 'R4'],
  ['rule', 'Rule R10 says so', 'R10'],
  ['rule', 'R4 or R5', undefined],
  ['rule', 'There are 4 rules', undefined],
  ['order', 'Only a-1312.', 'A-1312'],
  ['ticket', 'It is T-10203', 'T-10203'],
] as const)('of the kind %s %j says %j', (kind, text, only) => {
  expect(valuesIn(kind, text).only).toBe(only)
})

test('the last message that says anything counts, and it must say one thing', () => {
  const tell: Tell = { kind: 'money', ask: '', value: '4964' }
  expect(wasTold(tell, ['49.64 EUR'], undefined)).toBe(true)
  expect(wasTold(tell, ['58.40 EUR?', 'It is 49.64 EUR', 'Good bye!'], undefined)).toBe(true)
  expect(wasTold(tell, ['49.64 EUR', 'or 58.40 EUR'], undefined)).toBe(false)
  expect(wasTold(tell, ['49.64 EUR, or 58.40 EUR'], undefined)).toBe(false)
  expect(wasTold(tell, ['149.64 EUR'], undefined)).toBe(false)
  expect(wasTold(tell, [], undefined)).toBe(false)
  expect(wasTold({ kind: 'ticket', ask: '' }, ['T-10203'], undefined)).toBe(false)
  expect(wasTold({ kind: 'ticket', ask: '' }, ['T-10203'], 'T-10203')).toBe(true)
})

test('who recites the rules has told nothing', () => {
  for (const kind of ['money', 'rule'] as const)
    expect(valuesIn(kind, `${system} 1.00 EUR`).only).toBeUndefined()
})
