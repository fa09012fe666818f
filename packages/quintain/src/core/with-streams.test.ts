import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
const program = `
import { closeSync, openSync } from 'node:fs'
import { HostProgram } from ${at('../harness/command/host-program.ts')}
import { StdioTransport } from ${at('../mcp/stdio-transport.ts')}
import { processDriver } from ${at('../sandbox/process/driver.ts')}
const box = await processDriver().start()
const mine = { argv: ['true'], env: {}, cwd: '/', outputBytes: 10, lines: false }
const server = new StdioTransport({ command: 'true', args: [], env: {}, maxMessageBytes: 10, stderrBytes: 10, onTooLarge() {}, onSkippedLine() {} })
const held = []
try { for (;;) held.push(openSync('/dev/null')) } catch {}
const codes = [
  await box.exec('true').catch(({ fault }) => [fault.owner, fault.code, fault.retryable].join(' ')),
  await new Promise((resolve) => resolve(new HostProgram(mine))).catch(({ code }) => code),
  await server.start().catch(({ code }) => code),
]
// What Node says of it comes a moment later.
await new Promise((resolve) => setTimeout(resolve, 50))
for (const descriptor of held) closeSync(descriptor)
const after = await box.exec('exit 3')
await box.stop()
console.log(JSON.stringify([...codes, after.exitCode]))
`

test('without a file descriptor left, no process is started, and this one goes on', async () => {
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    'ulimit -n 60; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    program,
  ])
  expect(JSON.parse(stdout)).toEqual(['sandbox sandbox_io true', 'EMFILE', 'EMFILE', 3])
})
