import { createRng, type Rng } from '../../packages/quintain/src/core/index.ts'

const words =
  'the a cat cats sat sits sitting on mat mats. running runs ran Runner quickly happily hopped hoping agreed national relational conditional vietnamization skies dying geology usefulness Über naïve straße İstanbul 日本 北海道 👍 👩‍👩‍👧 a.b. 3.14 -- ... e\u0301te été x y yes enjoy ties tied controlling roll'.split(
    ' ',
  )

/** Pairs that were wrong somewhere once: nothing, spaces, other scripts, joined emoji, stops, repeats. */
const made: readonly (readonly [string, string])[] = [
  ['', 'abc'],
  ['kitten', 'sitting'],
  ['北海', '南山'],
  ['👍', '👎'],
  ['blue sky', 'blue sky'],
  ['the the the the', 'the cat'],
  ['.', 'a'],
  ['...', '. .'],
  [' . a', 'a. .b'],
  ['a\u001cb\u0085c', 'a b c'],
  ['a\ufeffb', 'a b'],
  ['It is a guide to action.', 'It is the guide. To action it is'],
  ['fuzzy wuzzy was a bear', 'wuzzy fuzzy was a bear'],
  ['x'.repeat(200), 'x'.repeat(199)],
  ['ab'.repeat(70), 'ba'.repeat(64)],
  ['The quick brown fox', 'the quick brown fox jumped over the lazy dog and went on'],
  ['\u{10000}b \uffffb', '\uffffb \u{10000}b c'],
]

/** Seeded pairs: words at random, the same text with mistakes, and one text inside a longer one. */
export function pairsOf(seed: string, count: number): [string, string][] {
  const rng = createRng(seed)
  const pairs = made.flatMap(([a, b]): [string, string][] => [
    [a, b],
    [b, a],
  ])
  while (pairs.length < count) {
    const a = sentence(rng, rng.int(rng.next() < 0.1 ? 120 : 14) + 1)
    const kind = rng.int(3)
    const b =
      kind === 0
        ? sentence(rng, rng.int(14) + 1)
        : kind === 1
          ? mistaken(rng, a)
          : `${sentence(rng, rng.int(12) + 1)} ${mistaken(rng, a)} ${sentence(rng, rng.int(30) + 1)}`
    pairs.push(rng.next() < 0.5 ? [a, b] : [b, a])
  }
  return pairs.filter(([a, b]) => a !== b || a !== '')
}

/** Words with the endings that stemmers look at. */
export function wordsOf(seed: string, count: number): string[] {
  const rng = createRng(seed)
  const stems =
    'happ fall controll agre hiss tann geo arch oper vi y tr sk enjo 日 👍 naïv rat ceas b aa pl'.split(' ')
  const ends =
    'ing ed eed ied ies s ss sses y ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll'.split(
      ' ',
    )
  return Array.from({ length: count }, () => {
    let word = stems[rng.int(stems.length)]!
    for (let more = rng.int(4); more > 0; more--) word += ends[rng.int(ends.length)]!
    return word
  })
}

function sentence(rng: Rng, length: number): string {
  const text = Array.from({ length }, () => words[rng.int(words.length)]!)
  return text.map((word) => (rng.next() < 0.1 ? `${word}.` : word)).join(rng.next() < 0.1 ? '  ' : ' ')
}

function mistaken(rng: Rng, text: string): string {
  const letters = [...text]
  for (let mistakes = rng.int(5); mistakes > 0; mistakes--) {
    const at = rng.int(letters.length + 1)
    letters.splice(at, rng.int(3), ...(rng.next() < 0.5 ? ['q'] : []))
  }
  return letters.join('')
}
