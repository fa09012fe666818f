// Porter, "An algorithm for suffix stripping", Program 14.3 (1980), with the departures that nltk 3.9.1 makes by default:
// a list of irregular words, short words left alone, and other conditions in steps 1a to 2.
type Condition = (stem: string) => boolean
type Rule = readonly [suffix: string, replacement: string, condition?: Condition]

const irregular = new Map([
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['innings', 'inning'],
  ['outings', 'outing'],
  ['cannings', 'canning'],
  ...['sky', 'news', 'inning', 'outing', 'canning', 'howe', 'proceed', 'exceed', 'succeed'].map(
    (word) => [word, word] as const,
  ),
])

const plural: readonly Rule[] = [
  ['sses', 'ss'],
  ['ies', 'i'],
  ['ss', 'ss'],
  ['s', ''],
]
const positive: Condition = (stem) => measure(stem) > 0
const long: Condition = (stem) => measure(stem) > 1

const step2: readonly Rule[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['fulli', 'ful'],
  // The l counts as part of the stem, so that "geologi" has one of positive measure.
  ['logi', 'log', (stem) => positive(`${stem}l`)],
]

const step3: readonly Rule[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

const step4: readonly Rule[] = [
  ...['al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ment', 'ent'].map(
    (suffix): Rule => [suffix, ''],
  ),
  ['ion', '', (stem) => long(stem) && /[st]$/.test(stem)],
  ...['ou', 'ism', 'ate', 'iti', 'ous', 'ive', 'ize'].map((suffix): Rule => [suffix, '']),
]

/** Letters that are looked at: no word is this long, and a run of 10 MB without a space must not cost minutes. */
const longestWord = 1_000

/** The stem of a lower-case word, as nltk 3.9.1 `PorterStemmer().stem` gives it; a word of over 1,000 letters is its own. */
export function porterStem(word: string): string {
  if (word.length > longestWord) return word
  const known = irregular.get(word)
  if (known !== undefined) return known
  // One unit a letter, as lengths and places of letters are compared below.
  const astral = [...new Set(word.match(/[\u{10000}-\u{10ffff}]/gu))]
  const units = astral.reduce(
    (text, letter, i) => text.replaceAll(letter, String.fromCharCode(0xe000 + i)),
    word,
  )
  if (units.length <= 2) return word
  const stem = step5(first(first(step2Of(step1c(step1b(step1a(units)))), step3, positive), step4, long))
  return astral.reduce((text, letter, i) => text.replaceAll(String.fromCharCode(0xe000 + i), letter), stem)
}

/** Applies the first rule whose suffix the word has, if its condition holds; no other is tried. */
function first(word: string, rules: readonly Rule[], otherwise?: Condition): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix))
  if (rule === undefined) return word
  const [suffix, replacement, condition = otherwise] = rule
  const stem = word.slice(0, word.length - suffix.length)
  return condition === undefined || condition(stem) ? stem + replacement : word
}

function step1a(word: string): string {
  return word.endsWith('ies') && word.length === 4 ? word.slice(0, -1) : first(word, plural)
}

function step1b(word: string): string {
  if (word.endsWith('ied')) return word.slice(0, word.length === 4 ? -1 : -2)
  if (word.endsWith('eed')) return positive(word.slice(0, -3)) ? word.slice(0, -1) : word
  const suffix = ['ed', 'ing'].find((each) => word.endsWith(each) && hasVowel(word.slice(0, -each.length)))
  if (suffix === undefined) return word
  const stem = word.slice(0, -suffix.length)
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  const last = stem.at(-1)!
  if (stem.length >= 2 && last === stem.at(-2) && isConsonant(stem, stem.length - 1)) {
    return 'lsz'.includes(last) ? stem : stem.slice(0, -1)
  }
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

function step1c(word: string): string {
  if (!word.endsWith('y') || word.length <= 2 || !isConsonant(word, word.length - 2)) return word
  return `${word.slice(0, -1)}i`
}

function step2Of(word: string): string {
  // This rule comes before the others, and what it leaves goes through them again.
  if (word.endsWith('alli') && positive(word.slice(0, -4))) return step2Of(word.slice(0, -2))
  return first(word, step2, positive)
}

function step5(word: string): string {
  let stem = word
  if (word.endsWith('e')) {
    const rest = word.slice(0, -1)
    if (measure(rest) > 1 || (measure(rest) === 1 && !endsShort(rest))) stem = rest
  }
  return stem.endsWith('ll') && measure(stem.slice(0, -1)) > 1 ? stem.slice(0, -1) : stem
}

/** Which letters are consonants: all but a, e, i, o, u, and y after a consonant. */
function consonants(word: string): boolean[] {
  const are: boolean[] = []
  for (let at = 0; at < word.length; at++) {
    const letter = word[at]!
    are.push(letter === 'y' ? at === 0 || !are[at - 1] : !'aeiou'.includes(letter))
  }
  return are
}

function isConsonant(word: string, at: number): boolean {
  return consonants(word)[at] ?? false
}

function hasVowel(word: string): boolean {
  return consonants(word).includes(false)
}

/** How often a vowel is followed by a consonant. */
function measure(stem: string): number {
  const are = consonants(stem)
  return are.filter((consonant, at) => consonant && at > 0 && !are[at - 1]).length
}

/** Consonant, vowel, consonant other than w, x and y; or a vowel and a consonant and nothing else. */
function endsShort(word: string): boolean {
  const [third, second, last] = [-3, -2, -1].map((at) => consonants(word).at(at))
  if (word.length === 2) return second === false && last === true
  return word.length >= 3 && third === true && second === false && last === true && !/[wxy]$/.test(word)
}
