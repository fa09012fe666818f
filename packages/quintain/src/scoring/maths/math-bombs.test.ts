import { expect, test } from 'vitest'
import { mathEqual } from './math-equal.ts'
import { scoreMath } from './math-score.ts'

const r = String.raw
const many = (count: number, write: (place: number) => string, between = '+') =>
  Array.from({ length: count }, (_, place) => write(place)).join(between)

const bombs: Record<string, string> = {
  'fractions in each other': r`\frac{1}{`.repeat(10_000) + '}'.repeat(10_000),
  'roots in each other': `${r`\sqrt{1+`.repeat(50)}2${'}'.repeat(50)}`,
  brackets: '('.repeat(9_000),
  'a tower of powers': '10^{10^{10}}',
  'a factorial': '10^9!',
  'factorials of factorials': r`((3!)!)!`,
  'a binomial': r`\binom{100000000}{50000000}`,
  'a high power of a sum': '(x+y+z+w+a+b+c+d)^{40}',
  'a logarithm of something long': r`\ln(3^{100000}+1)`,
  'large denominators': r`\frac{1}{3^{100000}}+\frac{1}{7^{70000}}+\frac{1}{5^{80000}}`,
  'many denominators': many(200, (place) => r`\frac{1}{x+${place}}`),
  'many roots': many(300, (place) => r`\sqrt{${place + 2}}`),
  'e to the power of e': 'e^{e^{e^{e^{e}}}}',
  'ten megabytes of full stops': `${'.;'.repeat(5_000_000)}x`,
  'ten megabytes of letters': 'a'.repeat(10_000_000),
  'many signs': `${'-'.repeat(5_999)}1`,
  'many choices of signs': many(1_000, () => r`1\pm 2`, ','),
  'half a character and none': '\ud800\0',
  NaN: 'NaN',
  'names that every object has': '5 constructor',
  'such a name as a unit': '5 km/constructor + toString(2) _ \\text{__proto__}',
}

test.each(Object.entries(bombs))('%s: no match, no exception, no zero escaped', (_, bomb) => {
  const policy = { deadlineMs: 1_000 }
  expect(mathEqual('1', bomb, policy).equal).not.toBe(true)
  expect(mathEqual(`${bomb} + 1`, bomb, policy).equal).not.toBe(true)
  expect(scoreMath({ gold: '1', answer: bomb, policy })).toMatchObject({ score: 0, status: 'scored' })
})

test('the deadline is looked at inside a comparison', () => {
  const slow = many(200, (place) => r`\frac{1}{x+${place}}`)
  expect(mathEqual(`${slow}+1`, slow, { deadlineMs: 1 })).toMatchObject({ equal: null, reason: 'deadline' })
})

test('a gold that is missing is nobody’s score', () => {
  for (const gold of [null, undefined, ' ']) {
    expect(scoreMath({ gold, answer: '1' })).toMatchObject({ score: null, status: 'invalid_gold' })
    expect(scoreMath({ gold, answer: null })).toMatchObject({ score: null, status: 'invalid_gold' })
  }
  expect(scoreMath({ gold: '1', answer: null })).toMatchObject({ score: 0, reason: 'no_answer' })
})
