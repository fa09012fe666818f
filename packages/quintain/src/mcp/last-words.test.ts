import { expect, test } from 'vitest'
import { lastWords } from './last-words.ts'

test.each([
  [
    'Node',
    `node:internal/modules/run_main:123
    throw error
    ^

Error: no database at /var/lib/notes
    at Object.<anonymous> (file:///srv/notes.js:1:7)
    at ModuleJob.run (node:internal/modules/esm/module_job:1:1)

Node.js v24.1.0
`,
    'no database at /var/lib/notes',
  ],
  [
    'npm',
    `npm error code E404
npm error 404 Not Found - GET https://registry.invalid/no-such-server
npm error 404
npm error 404  The requested resource 'no-such-server@*' could not be found
npm error A complete log of this run can be found in: ~/.npm/_logs/2026-01-01-debug-0.log
`,
    "'no-such-server@*' could not be found",
  ],
  [
    'Python',
    `Traceback (most recent call last):
  File "server.py", line 1, in <module>
    import notes
ModuleNotFoundError: No module named 'notes'
`,
    "No module named 'notes'",
  ],
])('of a program of %s tell why it ended', (_what, stderr, why) => {
  const said = lastWords(stderr, [])
  expect(said).toContain(why)
  expect(said).not.toMatch(/Node\.js v|complete log|ModuleJob/)
})

test('are short, and without what the program was given in secret', () => {
  expect(
    lastWords(`key is sk-canary-123\n${'x'.repeat(10_000)} sk-canary-123`, ['sk-canary-123', '1']),
  ).not.toContain('canary')
  expect(lastWords('x'.repeat(10_000), []).length).toBeLessThanOrEqual(400)
  expect(lastWords('\n \n', [])).toBe('')
})
