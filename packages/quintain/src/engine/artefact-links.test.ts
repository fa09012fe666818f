import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Snapshot, SnapshotEntry } from '../core/index.ts'
import { followLinks } from './artefact-links.ts'
import { artefactFiles, describeArtefacts } from './artefacts.ts'

const folder = (path: string): SnapshotEntry => ({ kind: 'folder', path, mode: 0o755 })
const file = (path: string): SnapshotEntry => ({ kind: 'file', path, mode: 0o644, data: new Uint8Array() })
const link = (path: string, target: string): SnapshotEntry => ({ kind: 'link', path, target })
const of = (...entries: SnapshotEntry[]): Snapshot => ({ version: 1, entries, skipped: [] })

const box = [folder('/box'), folder('/box/d'), file('/box/d/f'), file('/box/run')]

describe('a link among artefacts', () => {
  test.each<[why: string, target: string, kept: string | undefined]>([
    ['to a file beside it keeps its text', '../run', '../run'],
    ['to a file below keeps its text', 'f', 'f'],
    ['that is padded keeps its text', './/./f', './/./f'],
    ['to a folder keeps its text', '.', '.'],
    ['over another link keeps its text', '../to-d/f', '../to-d/f'],
    ['with an absolute path keeps it', '/box/d/f', '/box/d/f'],
    ['with an absolute path over a link leads straight', '/box/to-d/f', '/box/d/f'],
    ['that goes out and comes back leads straight', '../../box/run', '/box/run'],
    ['that climbs over the top leads straight', '../../../../box/run', '/box/run'],
    ['to what is outside is none', '/etc/passwd', undefined],
    ['over what is outside is none', '/etc/../box/run', undefined],
    ['to a folder over the artefacts is none', '../..', undefined],
    ['to nothing is none', 'nothing', undefined],
    ['to a file as if it were a folder is none', 'f/', undefined],
    ['over a file is none', 'f/../f', undefined],
    ['to itself is none', 'it', undefined],
    ['to two that lead to each other is none', '../one', undefined],
    ['without a text is none', '', undefined],
  ])('%s', (_, target, expected) => {
    const artefacts = of(
      ...box,
      link('/box/to-d', 'd'),
      link('/box/one', 'two'),
      link('/box/two', './one'),
      link('/box/d/it', target),
    )
    const files = artefactFiles(artefacts)
    expect(files['/box/d/it']).toEqual(expected === undefined ? undefined : { link: expected })
  })

  test('is followed over as many as the kernel follows', () => {
    const chain = Array.from({ length: 60 }, (_, at) => link(`/box/l${at}`, at === 59 ? 'run' : `l${at + 1}`))
    for (const entries of [chain, chain.toReversed()]) {
      const { kept } = followLinks(of(...box, ...entries))
      expect([...kept.keys()].sort()).toEqual(
        chain
          .slice(-40)
          .map(({ path }) => path)
          .sort(),
      )
    }
  })

  test('ends, when it is followed as the kernel does, at an artefact, whatever the links say', () => {
    const name = fc.constantFrom('a', 'b', 'c', '..', '.', '', 'box')
    const target = fc
      .tuple(fc.boolean(), fc.array(name, { maxLength: 6 }))
      .map(([isAbsolute, names]) => (isAbsolute ? '/' : '') + names.join('/'))
    const kind = fc.oneof(target, fc.constantFrom<'file' | 'folder'>('file', 'folder'))
    fc.assert(
      fc.property(fc.array(kind, { minLength: 12, maxLength: 12 }), (kinds) => {
        const entries = [folder('/box')]
        const paths = ['a', 'b', 'c', 'a/a', 'a/b', 'b/a', 'b/c', 'c/a', 'c/b', 'c/c', 'a/a/b', 'a/a/c']
        for (const [at, path] of paths.entries()) {
          const parent = entries.find((entry) => entry.path === posix.dirname(`/box/${path}`))
          if (parent?.kind !== 'folder') continue
          const is = kinds[at] ?? 'file'
          const whole = `/box/${path}`
          entries.push(is === 'file' ? file(whole) : is === 'folder' ? folder(whole) : link(whole, is))
        }
        const before = new Map(entries.map((entry) => [entry.path, entry]))
        const files = artefactFiles(of(...entries))
        const after = new Map(
          entries.flatMap((entry): [string, SnapshotEntry][] => {
            const left = files[entry.path]
            if (entry.kind !== 'link') return [[entry.path, entry]]
            return typeof left === 'object' && 'link' in left
              ? [[entry.path, link(entry.path, left.link)]]
              : []
          }),
        )
        for (const [path, entry] of before) {
          if (entry.kind !== 'link') continue
          const end = walked(path, before)
          expect([path, walked(path, after)]).toEqual([path, after.has(path) ? end : undefined])
          expect(after.has(path)).toBe(end !== undefined)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

/** Where a path ends, name by name as a kernel goes; nothing but the artefacts and what they are in is there. */
function walked(start: string, at: ReadonlyMap<string, SnapshotEntry>): string | undefined {
  const left = start.split('/')
  let here = '/'
  for (let hops = 0; left.length > 0; ) {
    const name = left.shift()
    if (at.get(here)?.kind === 'file') return undefined
    if (name === '' || name === '.' || name === undefined) continue
    const next = name === '..' ? posix.dirname(here) : posix.join(here, name)
    const entry = at.get(next)
    if (entry === undefined && next !== '/') return undefined
    if (entry?.kind !== 'link') {
      here = next
      continue
    }
    if (++hops > 40 || entry.target === '') return undefined
    left.unshift(...entry.target.split('/'))
    if (entry.target.startsWith('/')) here = '/'
  }
  return at.has(here) ? here : undefined
}

describe('links that are made to be long to follow', () => {
  test('are read once each, however many lead over them', () => {
    const pad = './'.repeat(2030)
    const long = Array.from({ length: 39 }, (_, at) =>
      link(`/box/l${at}`, pad + (at === 38 ? 'd' : `l${at + 1}`)),
    )
    const short = Array.from({ length: 1500 }, (_, at) => link(`/box/z${at}`, 'l0'))
    for (const entries of [
      [...long, ...short],
      [...short, ...long],
    ]) {
      const { kept, steps } = followLinks(of(...box, ...entries))
      expect(kept.size).toBe(1539)
      // Every name of every target, and once more where another link had to be followed first.
      expect(steps).toBeLessThan(39 * 2031 + 1500 + 2 * 1539)
    }
  })

  test('are not kept past a number of steps, and that is told', () => {
    const entries = Array.from({ length: 10 }, (_, at) => link(`/box/l${at}`, `${'./'.repeat(99)}run`))
    const { kept, unfollowed, steps } = followLinks(of(...box, ...entries), 500)
    expect([kept.size, unfollowed.size]).toEqual([5, 5])
    expect(steps).toBeLessThanOrEqual(500 + 10)

    const many = Array.from({ length: 600 }, (_, at) => link(`/box/l${at}`, `${'./'.repeat(2000)}run`))
    const { skipped } = describeArtefacts(of(...box, ...many))
    expect(skipped.length).toBeGreaterThan(50)
    expect(new Set(skipped.map(({ reason }) => reason))).toEqual(new Set(['too_large']))
  })

  test('may lead over one another as many as there can be', () => {
    const entries = Array.from({ length: 20_000 }, (_, at) => link(`/box/l${at}`, `l${at + 1}`))
    const { kept, steps } = followLinks(of(...box, ...entries))
    expect([kept.size, steps < 100_000]).toEqual([0, true])
  })
})
