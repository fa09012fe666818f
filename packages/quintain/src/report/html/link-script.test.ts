import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkScript } from './link-script.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-link-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const write = async (files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return pathToFileURL(join(folder, Object.keys(files)[0]!))
}

test('modules become one script in which names of one do not meet those of another', async () => {
  const entry = await write({
    'main.ts': `import { two, type Two } from './two.ts'\nimport type { One } from './one.ts'\nimport { one as first } from './one.ts'\nconst hidden: One = first\nconst sum: Two = two() + hidden\nresult.value = sum\n`,
    'two.ts': `import { one } from './one.ts'\nconst hidden = one\nexport type Two = number\nexport function two(): number {\n  return hidden + 1\n}\n`,
    'one.ts': `export type One = number\nresult.loaded += 1\nexport const one: number = 1\n`,
  })
  const result = { value: 0, loaded: 0 }
  runInNewContext(linkScript(entry), { result })
  expect(result).toEqual({ value: 3, loaded: 1 })
})

test.each([
  ['a default import', `import x from './leaf.ts'\nx()\n`, 'not linked'],
  ['a package', `import { z } from 'zod'\nz\n`, 'not linked'],
  ['an export list', `const a = 1\nexport { a }\n`, 'not linked'],
  ['what would end the script', `const a = '</script>'\na\n`, 'would end it'],
])('%s is refused, not left for the browser to stumble over', async (_name, text, why) => {
  const entry = await write({ 'bad.ts': text, 'leaf.ts': 'export const leaf = 1\n' })
  expect(() => linkScript(entry)).toThrow(why)
})

test("the page's own script is one, and small", () => {
  const script = linkScript(new URL('./client/main.ts', import.meta.url))
  expect(script).not.toMatch(/^\s*(import|export)\b/m)
  // Nothing in it may make HTML of text, or reach out.
  expect(script).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|fetch\(|XMLHttpRequest|WebSocket|sendBeacon/,
  )
  expect(script.length).toBeLessThan(64_000)
  expect(() => new Function(script)).not.toThrow()
})
