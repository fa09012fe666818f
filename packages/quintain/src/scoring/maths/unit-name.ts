import { canonicalUnit } from '../number-unit.ts'

/** Letters that are units where another unit stands above them. */
const underneath = new Map(
  Object.entries({
    s: 'second',
    sec: 'second',
    h: 'hour',
    hr: 'hour',
    min: 'minute',
  }),
)

/** A unit as it is compared: `square inches`, `in^2` and `sq. in.` are one. Unknown words are units by themselves. */
export function unitName(text: string): string {
  const [over = '', ...under] = text
    .toLowerCase()
    .replace(/\\[a-z]+|[{}\\]/g, ' ')
    .split(/\/|\bper\b/)
  return [part(over), ...under.map((text) => part(underneath.get(text.trim()) ?? text))].join('/')
}

function part(text: string): string {
  const words = text.split(/[\s.*·-]+/).filter((word) => word !== '')
  const names: string[] = []
  let next = ''
  for (const word of words) {
    const power = /^\^?(\d)$/.exec(word)?.[1]
    if (['square', 'sq', 'cubic', 'cu'].includes(word)) next = word.startsWith('s') ? '^2' : '^3'
    else if (word === 'squared' || word === 'cubed') raise(names, word === 'squared' ? '^2' : '^3')
    else if (power !== undefined && word.startsWith('^')) raise(names, `^${power}`)
    else if (!['the', 'of', 'a', 'an'].includes(word)) {
      const [, bare = word, raised = ''] = /^(.+?)(\^\d)?$/.exec(word) ?? []
      names.push((canonicalUnit(bare) ?? singular(bare)) + (raised || next))
      next = ''
    }
  }
  return names.join(' ')
}

function raise(names: string[], power: string): void {
  const last = names.pop()
  if (last !== undefined) names.push(last + power)
}

function singular(word: string): string {
  return word.length > 3 ? word.replace(/(?<!s)s$/, '') : word
}
