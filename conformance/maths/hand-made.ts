import type { Pair } from './pairs.ts'

const pair =
  (kind: string, equal: boolean) =>
  ([gold, answer]: readonly [string, string]): Pair => ({ of: 'pairs', kind, gold, answer, equal })

/** Pairs on which scorers are known to part ways, with our ruling on each. */
export const handMade: readonly Pair[] = [
  ...(
    [
      ['\\frac{1}{2}', '0.5'],
      ['\\sqrt{12}', '2\\sqrt{3}'],
      ['\\frac{1}{\\sqrt{2}}', '\\frac{\\sqrt{2}}{2}'],
      ['1234567', '1,234,567'],
      ['\\frac{7}{2}', '3\\frac{1}{2}'],
      ['x^{2}-4', '(x-2)(x+2)'],
      ['\\sqrt{3+2\\sqrt{2}}', '1+\\sqrt{2}'],
      ['\\binom{5}{2}', '10'],
      ['y=2x+3', '2x-y+3=0'],
      ['(-\\infty,\\infty)', '(-\\infty,0)\\cup[0,\\infty)'],
      ['\\{1,2,3\\}', '\\{3,1,2\\}'],
      ['0.\\overline{3}', '\\frac{1}{3}'],
    ] as const
  ).map(pair('another form', true)),
  ...(
    [
      ['\\sqrt{3}', '1.7320508'],
      ['\\frac{1}{3}', '0.3333333333'],
      ['\\pi', '3.14159265358979'],
      ['\\pi', '\\frac{22}{7}'],
      ['e^{\\pi}-\\pi', '20'],
    ] as const
  ).map(pair('nearly', false)),
  ...(
    [
      ['(1,2)', '\\{1,2\\}'],
      ['(2,1)', '(1,2)'],
      ['[0,1]', '(0,1)'],
      ['\\{1,2\\}', '\\{1,1,2,2,3\\}'],
      ['1,2,\\ldots,10', '1'],
      ['(1,2,3)', '(3,2,1)'],
    ] as const
  ).map(pair('another structure', false)),
  ...(
    [
      ['x=3', 'x=4'],
      ['x<3', 'x\\le 3'],
      ['x>3', 'x<3'],
      ['y=2x+3', 'y=2x-3'],
      ['x^{2}+y^{2}=4', 'x^{2}+y^{2}=2'],
    ] as const
  ).map(pair('another relation', false)),
]
