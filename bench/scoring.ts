import { bwrapDriver } from 'quintain/sandbox'
import { extractAnswer, matchNumber, mathEqual, prepareMath, pythonIn, stateDiff } from 'quintain/scoring'
import { gradingSandbox } from '../packages/quintain/src/engine/index.ts'
import { inFreshProcess } from './fresh-process.ts'
import { type Bench, type Measurement, median, medianOf } from './measurement.ts'

const module = import.meta.url
const repetitions = 5

const worded = (answer: string, at: number) =>
  `She starts with ${at} apples and buys ${at + 7} more, so she has ${at} + ${at + 7} = ${2 * at + 7}.\nHalf of them go to the neighbour, who pays $${(at % 9) + 1}.50 for each.\nShe keeps the rest for ${at % 5} days.\n#### ${answer}`

/** Answers of the length of GSM8K's, the number taken out of the text and compared; per second. */
export async function wordProblems(milliseconds: number): Promise<number> {
  const pairs = Array.from({ length: 64 }, (_, at) => {
    const answer = at % 3 === 0 ? `${at * 1250}` : at % 3 === 1 ? `${at}.50` : `${at},000`
    return { target: answer.replace(',', ''), output: worded(answer, at) }
  })
  return perSecond(milliseconds, pairs.length, () => {
    let right = 0
    for (const pair of pairs) if (matchNumber(pair).correct === true) right++
    if (right !== pairs.length) throw new Error(`${right} of ${pairs.length} are right`)
  })
}

/** The least that there is: the last number by a pattern, compared as text; per second. */
export async function barePattern(milliseconds: number): Promise<number> {
  const pairs = Array.from({ length: 64 }, (_, at) => ({ target: `${at}`, output: worded(`${at}`, at) }))
  return perSecond(milliseconds, pairs.length, () => {
    let right = 0
    for (const { target, output } of pairs) if (/#### (-?[\d.,]+)/.exec(output)?.[1] === target) right++
    if (right !== pairs.length) throw new Error('the pattern')
  })
}

const r = String.raw
/** Pairs of all kinds; those before `different` are equal. */
const mix: [gold: string, answer: string][] = [
  [r`\frac{7}{3}`, r`2\frac13`],
  [r`\frac{\sqrt{3}}{2}`, r`\sin 60^\circ`],
  [r`12\sqrt{5}`, r`\sqrt{720}`],
  [r`(2,\infty)`, '(2, ∞)'],
  [r`(-\infty,-1)\cup(1,\infty)`, r`(1,\infty)\cup(-\infty,-1)`],
  ['y=2x+1', '2x-y+1=0'],
  [r`x^2+2x+1`, '(x+1)^2'],
  [r`\frac{x^2-1}{x-1}`, 'x+1'],
  [r`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, r`\begin{bmatrix}1&2\\3&4\end{bmatrix}`],
  [r`\{1,2,3\}`, r`\{3,2,1\}`],
  ['1,-2', 'x=1, x=-2'],
  [r`\frac{\pi}{6}`, r`\frac{2\pi}{12}`],
  [r`\log_2 32`, '5'],
  [r`e^{2x}`, r`(e^x)^2`],
  [r`3+4i`, '4i+3'],
  [r`\frac{1}{\sqrt{2}}`, r`\frac{\sqrt{2}}{2}`],
  [r`45\%`, '0.45'],
  [r`12\text{ cm}`, '12'],
  [r`\text{Evelyn}`, 'Evelyn'],
  [r`\frac{3}{8}`, r`\frac{5}{8}`],
  [r`2\sqrt{3}`, r`3\sqrt{2}`],
  [r`x^2+1`, r`x^2-1`],
  ['(3,4)', '(4,3)'],
  [r`2\pi`, '6.28'],
]

const different = mix.length - 5

function check(equal: number): void {
  if (equal !== different) throw new Error(`${equal} pairs are equal, and ${different} should be`)
}

/** Answers in LaTeX against golds that were read before; per second. */
export async function latex(milliseconds: number): Promise<number> {
  const pairs = mix.map(([gold, answer]) => [prepareMath(gold), answer] as const)
  return perSecond(milliseconds, pairs.length, () => {
    let equal = 0
    for (const [gold, answer] of pairs) if (mathEqual(gold, answer).equal === true) equal++
    check(equal)
  })
}

/** A box found in a solution, and compared; per second. */
export async function boxed(milliseconds: number): Promise<number> {
  const pairs = mix.map(
    ([gold, answer]) =>
      [prepareMath(gold), `${worded('0', 3)}\nSo the answer is \\boxed{${answer}}.`] as const,
  )
  return perSecond(milliseconds, pairs.length, () => {
    let equal = 0
    for (const [gold, text] of pairs)
      if (mathEqual(gold, extractAnswer(text, { kind: 'boxed' }).answer ?? '').equal === true) equal++
    check(equal)
  })
}

function perSecond(milliseconds: number, each: number, run: () => void): number {
  run()
  const began = performance.now()
  let count = 0
  while (performance.now() - began < milliseconds) {
    run()
    count += each
  }
  return (count * 1000) / (performance.now() - began)
}

export interface DiffTimes {
  keyedMs: number
  unorderedMs: number
}

/** States of a thousand rows of six fields that differ in three places: by key, and as lists in any order. */
export async function stateDiffs(times: number): Promise<DiffTimes> {
  const rows = (changed: boolean) =>
    Array.from({ length: 1_000 }, (_, at) => ({
      id: `order-${at}`,
      customer: `c${at % 97}`,
      total: changed && at % 400 === 7 ? 1 : at * 3,
      open: at % 2 === 0,
      placed: '2026-01-01T00:00:00Z',
      note: null,
    }))
  const keyed = (changed: boolean) => Object.fromEntries(rows(changed).map((row) => [row.id, row]))
  const time = (run: () => { length: number }) => {
    const taken: number[] = []
    for (let i = 0; i < times; i++) {
      const began = performance.now()
      if (run().length === 0) throw new Error('no difference was found')
      taken.push(performance.now() - began)
    }
    return median(taken)
  }
  const before = keyed(false)
  const after = keyed(true)
  const list = { orders: rows(false) }
  const turned = { orders: rows(true).reverse() }
  return {
    keyedMs: time(() => stateDiff(before, after, { ignore: ['*.note'] })),
    unorderedMs: time(() => stateDiff(list, turned, { unordered: ['orders'] })),
  }
}

export interface PythonTimes {
  firstMs: number
  warmMs: number
}

/** Calls of a Python grader, each in a box and an interpreter of its own, with a pause in which the next one starts. */
export async function pythonCalls(source: string, calls: number): Promise<PythonTimes | null> {
  const driver = bwrapDriver()
  if (!(await driver.available()).available) return null
  const { sandbox, close } = gradingSandbox(driver)
  const run = pythonIn(sandbox)
  const times: number[] = []
  try {
    for (let i = 0; i < calls; i++) {
      const began = performance.now()
      const grade = await run(source, { sample: { output_text: 'four' }, item: { answer: 'four' } })
      times.push(performance.now() - began)
      if (!grade.ok) throw new Error(grade.message)
      await new Promise((resolve) => setTimeout(resolve, 400))
    }
  } finally {
    await close()
    await driver.close?.()
  }
  return { firstMs: times[0]!, warmMs: median(times.slice(1)) }
}

const pythonSource =
  'import json, re\n\ndef grade(sample, item):\n    return float(item["answer"] in sample["output_text"])\n'

export const bench: Bench = {
  title: 'Scoring',
  about: `Answers compared on one core: texts of the length of GSM8K's, from which the number is taken; ${mix.length} pairs of answers in LaTeX of all kinds, five of them different; states of 1,000 rows that differ in three; and a Python grader, each call in a box and an interpreter of its own that had started before. Beside them one regular expression.`,
  async run(progress) {
    const gsm: number[] = []
    const bare: number[] = []
    const plain: number[] = []
    const extracted: number[] = []
    const diffs: DiffTimes[] = []
    for (let round = 1; round <= repetitions; round++) {
      progress(`round ${round} of ${repetitions}`)
      gsm.push(await inFreshProcess(module, wordProblems, [800]))
      bare.push(await inFreshProcess(module, barePattern, [400]))
      plain.push(await inFreshProcess(module, latex, [800]))
      extracted.push(await inFreshProcess(module, boxed, [800]))
      diffs.push(await inFreshProcess(module, stateDiffs, [60]))
    }
    progress('Python graders')
    const python = await inFreshProcess(module, pythonCalls, [pythonSource, 9])
    const measurements: Measurement[] = [
      medianOf("comparisons of answers like GSM8K's", '/s', gsm, { atLeast: 20_000 }),
      medianOf('the same by one regular expression', '/s', bare),
      medianOf('comparisons of LaTeX, the gold read before', '/s', plain, { atLeast: 2_000 }),
      medianOf('the same, found in a box in a text', '/s', extracted),
      medianOf(
        'difference of states of 1,000 rows, by key',
        'ms',
        diffs.map(({ keyedMs }) => keyedMs),
        { below: 2 },
      ),
      medianOf(
        'the same as lists in any order, reversed',
        'ms',
        diffs.map(({ unorderedMs }) => unorderedMs),
        { below: 2 },
      ),
      ...(python === null
        ? []
        : [
            {
              what: 'a Python grader whose box is warm',
              unit: 'ms',
              value: python.warmMs,
              aim: { below: 50 },
            },
            { what: 'its first call', unit: 'ms', value: python.firstMs },
          ]),
    ]
    return {
      measurements,
      ...(python === null ? { notes: ['Python graders were not measured: nothing here starts boxes.'] } : {}),
    }
  },
}
