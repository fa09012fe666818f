import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepPage, keptPage } from './kept-page.ts'

let root: string
let dir: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-page-'))
  dir = join(root, 'training')
  await mkdir(dir)
})
afterEach(() => rm(root, { recursive: true, force: true }))

test('a page is found again, also where it was not written yet', async () => {
  await keepPage(dir, join(dir, 'training.html'))
  expect(await keptPage(dir)).toBe(join(dir, 'training.html'))
})

test('a page elsewhere is kept up while it is there, and not made again', async () => {
  const page = join(root, 'curves.html')
  await writeFile(page, '')
  await keepPage(dir, page)
  expect(await keptPage(dir)).toBe(page)
  await rm(page)
  expect(await keptPage(dir)).toBeUndefined()
})

test.each([
  ['no record', undefined],
  ['half a record', '{"schema":"quintain.tra'],
  ['another record', '{"schema":"quintain.page","v":1,"file":"training.html"}'],
])('%s is no page', async (_, text) => {
  if (text !== undefined) await writeFile(join(dir, 'page.json'), text)
  expect(await keptPage(dir)).toBeUndefined()
})
