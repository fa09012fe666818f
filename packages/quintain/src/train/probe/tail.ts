import { mean } from './pay.ts'
import { type Played, saidIn } from './played.ts'
import type { Trait } from './probe-record.ts'

/** Rollouts that are the tail: so many of the best paid, and no more than a tenth. */
const mostOfTail = 50
const mostTraits = 5
const longestPhrase = 4

/**
 * The best-paid rollouts, and what they share: texts, length, turns, calls. What earned the
 * least of all is no part of it. Undefined where everything is paid the same.
 */
export function tailOf(played: readonly Played[]): { tail: Played[]; traits: Trait[] } | undefined {
  const scored = played.filter(({ reward }) => reward !== null).sort((a, b) => b.reward! - a.reward!)
  const size = Math.min(mostOfTail, Math.max(3, Math.floor(scored.length / 10)))
  const least = scored.at(-1)?.reward
  const tail = scored.slice(0, size).filter(({ reward }) => reward !== least)
  const others = scored.slice(tail.length)
  if (tail.length === 0) return undefined
  const traits = [...textTraits(tail, others), ...sizeTraits(tail, others)]
    .filter(({ best, others: rest }) => best >= 0.5 && best - rest >= 0.3)
    .sort((a, b) => b.best - b.others - (a.best - a.others) || b.what.length - a.what.length)
  return { tail, traits: distinct(traits).slice(0, mostTraits) }
}

function textTraits(tail: readonly Played[], others: readonly Played[]): Trait[] {
  const counts = new Map<string, number>()
  for (const { acts } of tail)
    for (const phrase of phrasesIn(saidIn(acts))) counts.set(phrase, (counts.get(phrase) ?? 0) + 1)
  const frequent = [...counts].filter(([, count]) => count >= tail.length / 2)
  const said = others.map(({ acts }) => ` ${normal(saidIn(acts))} `)
  return frequent.map(([phrase, count]) => ({
    what: JSON.stringify(phrase),
    best: count / tail.length,
    others: mean(said.map((text) => Number(text.includes(` ${phrase} `)))),
  }))
}

/** Words and what follows them, each once. */
function phrasesIn(text: string): Set<string> {
  const words = normal(text).split(' ').slice(0, 400)
  const phrases = new Set<string>()
  for (let from = 0; from < words.length; from++)
    for (let length = 1; length <= longestPhrase && from + length <= words.length; length++)
      phrases.add(words.slice(from, from + length).join(' '))
  phrases.delete('')
  return phrases
}

function normal(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim()
}

function sizeTraits(tail: readonly Played[], others: readonly Played[]): Trait[] {
  const trait = (what: string, has: (played: Played) => boolean): Trait => ({
    what,
    best: mean(tail.map((one) => Number(has(one)))),
    others: mean(others.map((one) => Number(has(one)))),
  })
  const lengths = tail.map(({ acts }) => saidIn(acts).length).sort((a, b) => a - b)
  const [shortest = 0, longest = 0] = [lengths[0], lengths.at(-1)]
  const turns = new Set(tail.map(({ acts }) => acts.length))
  const names = new Set(
    tail.flatMap(({ acts }) => acts.flatMap(({ calls = [] }) => calls.map(({ name }) => name))),
  )
  return [
    trait('nothing is said', ({ acts }) => saidIn(acts) === ''),
    trait(`at least ${shortest} characters`, ({ acts }) => saidIn(acts).length >= shortest),
    trait(`at most ${longest} characters`, ({ acts }) => saidIn(acts).length <= longest),
    ...[...turns].map((count) =>
      trait(count === 1 ? 'one turn' : `${count} turns`, ({ acts }) => acts.length === count),
    ),
    ...[...names].map((name) =>
      trait(`a call of ${name}`, ({ acts }) =>
        acts.some(({ calls = [] }) => calls.some((call) => call.name === name)),
      ),
    ),
  ]
}

/** Of texts that are part of each other and as telling, the longest alone. */
function distinct(traits: readonly Trait[]): Trait[] {
  return traits.filter(
    (trait, at) =>
      !traits.some(
        (other, place) =>
          place < at &&
          other.what.includes(trait.what.slice(1, -1)) &&
          other.best - other.others >= trait.best - trait.others,
      ),
  )
}
