import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Prints which of our modules a process has loaded once it has imported some. */
const listing = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
for (const url of process.argv.slice(1)) await import(url)
process.stdout.write(loaded.filter((url) => url.includes('/src/')).join('\\n'))
`

test('what an environment imports, and with it every worker, holds nothing that measures, serves tools or starts boxes', () => {
  const entries = ['./index.ts', './engine/host.ts'].map((path) => new URL(path, import.meta.url).href)
  const arguments_ = ['--input-type=module', '--no-warnings', '-e', listing, ...entries]
  const loaded = execFileSync(process.execPath, arguments_, { encoding: 'utf8' }).split('\n')
  expect(loaded).toContainEqual(expect.stringMatching(/\/src\/core\/environment\.ts$/))
  const needless =
    /\/src\/(?:(?:report|stats|doors|train|cli|sandbox\/(?:bwrap|container|memory|wasm))\/|mcp\/index)/
  expect(loaded.filter((url) => needless.test(url))).toEqual([])
})
