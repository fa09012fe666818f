// A served policy, asked by clients that we did not write, by our own, and while its weights are exchanged.
// `node conformance/serve-model/check.ts`
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPeers } from '../npm/install-peers.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { Tally } from '../tally.ts'
import { question, replies, request, tools } from './cases.ts'
import { savePolicy } from './policies.ts'
import { recordChecks } from './record-checks.ts'
import { type ServedModel, startServer } from './server.ts'
import { swapChecks } from './swap-checks.ts'

const run = promisify(execFile)
const tally = new Tally('serve-model')
let skipped = 0
const room = mkdtempSync(join(tmpdir(), 'quintain-serve-model-'))
const cases = JSON.stringify({ question, request, tools })
const { sun } = replies
const promptTokens = Buffer.byteLength(question) + 2
const sampledTokens = Buffer.byteLength(sun.text) + 1
const call = ['weather', '{"city":"Rome"}']

function skip(what: string, why: string): void {
  skipped++
  process.stdout.write(`serve-model: ${what} skipped: ${why}\n`)
}

try {
  const path = await savePolicy(room, 'sun')
  const other = await savePolicy(room, 'rain')
  const server = await startServer(path)
  try {
    const peers = installPeers({
      name: 'serve-model',
      versions: {
        '@ai-sdk/openai': '4.0.118',
        '@ai-sdk/openai-compatible': '3.0.92',
        ai: '7.0.173',
        openai: '7.59.0',
      },
    })
    if (peers.folder === undefined) skip('clients of npm', peers.missing)
    else await javascriptChecks(peers.folder, server)
    const python = await pythonEnvironment(import.meta.dirname, (text) =>
      process.stderr.write(`serve-model: ${text}\n`),
    )
    if ('unavailable' in python) skip('the client for Python', python.unavailable)
    else await pythonChecks(python.interpreter, server)
    await swapChecks(server, { path, other, tally })
  } finally {
    tally.check('ends when it is told to', await server.stop(), 0)
  }
  await recordChecks(room, tally)
} finally {
  rmSync(room, { recursive: true, force: true })
}
console.log(`${tally.passed} passed, ${tally.failed} failed, ${skipped} skipped`)
process.exit(tally.failed === 0 ? 0 : 1)

async function javascriptChecks(folder: string, { url, key }: ServedModel): Promise<void> {
  const file = join(folder, 'clients.mjs')
  copyFileSync(join(import.meta.dirname, 'clients.mjs'), file)
  const { stdout } = await run(process.execPath, [file, url, key, 'policy', cases])
  const seen = JSON.parse(stdout) as Record<string, Record<string, unknown>>
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: sampledTokens,
    total_tokens: promptTokens + sampledTokens,
  }
  tally.check('openai 7', seen['openai'], {
    whole: sun.text,
    streamed: sun.text,
    pieces: sun.text,
    finish: ['stop', 'stop'],
    usage,
    streamedUsage: usage,
    logprobs: true,
    sameLogprobs: true,
    version: seen['openai']?.['version'],
    next: sun.again,
    call: [call],
    callFinish: 'tool_calls',
    streamedCall: [call],
    seeded: true,
    differ: true,
    completion: sun.text,
    completionIds: true,
    risen: sun.text,
    models: ['policy'],
    errors: {
      model: 'NotFoundError 404 model_not_found',
      key: 'AuthenticationError 401 invalid_api_key',
      long: 'BadRequestError 400 context_length_exceeded',
      field: 'BadRequestError 400 invalid_request',
      left: 'APIUserAbortError undefined undefined',
    },
  })
  for (const name of ['@ai-sdk/openai', '@ai-sdk/openai-compatible']) {
    tally.check(name, seen[name], {
      whole: sun.text,
      pieces: sun.text,
      finish: ['stop', 'stop'],
      usage: [promptTokens, sampledTokens],
      streamedUsage: [promptTokens, sampledTokens],
      next: sun.again,
      call: [call],
      callFinish: 'tool-calls',
    })
  }
}

async function pythonChecks(interpreter: string, { url, key }: ServedModel): Promise<void> {
  const file = join(import.meta.dirname, 'client.py')
  const { stdout } = await run(interpreter, [file, url, key, 'policy', cases])
  tally.check("OpenAI's client for Python", JSON.parse(stdout), {
    whole: sun.text,
    pieces: sun.text,
    finish: 'stop',
    usage: [promptTokens, sampledTokens],
    logprobs: true,
    call,
    seeded: true,
    fits: true,
    models: ['policy'],
    errors: {
      model: 'NotFoundError 404 model_not_found',
      long: 'BadRequestError 400 context_length_exceeded',
    },
  })
}
