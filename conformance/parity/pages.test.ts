import { describe, expect, test } from 'vitest'
import { allDoors } from '../../packages/quintain/src/doors/serve/door-names.ts'
import { environments } from './environments.ts'
import { pages, tableOf } from './pages.ts'

describe.each(pages)('the table of %s', (page) => {
  const rows = (tableOf(page) ?? '').split('\n').map((line) => line.split(' | ').map(plain))

  test('names every door, in their order', async () => {
    const titles = (await allDoors()).map(({ title }) => title)
    expect(rows[0]).toEqual(['environment', 'player', ...titles])
  })

  test('names every environment that is played in CI', () => {
    const played = new Set(rows.slice(2).map(([name]) => name))
    expect([...played]).toEqual(Object.keys(environments).map((name) => `@quintain/${name}`))
  })

  test('tells of no episode that differs', () => {
    const cells = rows.slice(2).flatMap((row) => row.slice(2))
    expect(cells.filter((cell) => !/^(= \d+\/\d+|lost: )/.test(cell))).toEqual([])
  })

  test('is the same on every page', () => {
    expect(tableOf(page)).toBe(tableOf(pages[0]))
  })
})

function plain(cell: string): string {
  return cell.replace(/^\| | \|$/g, '').trim()
}
