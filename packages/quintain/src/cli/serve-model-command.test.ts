import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { writeCheckpoint } from '../train/checkpoint.ts'
import { createEmbedded } from '../train/embedded/index.ts'
import { chatRenderer } from '../train/index.ts'
import { runCli } from './run-cli.ts'

/** What the server prints first. */
interface Ready {
  url: string
  control_url: string | null
  model: string
  weight_version: string
  digest: string
}

const token = 'client-token-of-an-agent'
const control = 'control-token-of-the-operator'
let cwd = ''
let stop: (() => void) | undefined

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'serve-model-'))
  const renderer = chatRenderer({ vocabulary: 'bytes' })
  const save = async (name: string, seed: string, width = 16) => {
    const shape = {
      layers: 1,
      width,
      heads: 2,
      feedForward: 32,
      vocabulary: renderer.vocabulary,
      context: 64,
    }
    const learner = await createEmbedded({ shape, seed, threads: 1 })
    await writeCheckpoint(join(cwd, name), { learner, renderer })
    await learner.close()
  }
  await save('one', '1')
  await save('two', '2')
  await save('wide', '1', 32)
  await writeFile(join(cwd, 'token'), `${control}\n`)
})
afterAll(() => rm(cwd, { recursive: true }))
afterEach(() => stop?.())

function run(argv: readonly string[]) {
  const ending = new AbortController()
  stop = () => ending.abort()
  let out = ''
  let err = ''
  const printed = Promise.withResolvers<string>()
  const code = runCli(['serve-model', ...argv], {
    stdout: {
      write(text: string) {
        out += text
        printed.resolve(out)
      },
    },
    stderr: { write: (text: string) => (err += text) },
    env: { CLIENT: token, CONTROL: control },
    cwd,
    signal: ending.signal,
  })
  code.then(() => printed.resolve(out)).catch(printed.reject)
  return { code, first: printed.promise, stop: () => ending.abort(), out: () => out, err: () => err }
}

async function served(argv: readonly string[]) {
  const running = run([...argv, '--port', '0', '--threads', '1', '--json'])
  return { ...running, ready: JSON.parse((await running.first).split('\n')[0] ?? '') as Ready }
}

async function ask(url: string, { body, bearer }: { body?: object; bearer?: string } = {}) {
  const response = await fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const said = (url: string, bearer?: string) =>
  ask(`${url}/chat/completions`, {
    body: {
      model: 'one',
      messages: [{ role: 'user', content: 'Hi' }],
      seed: 3,
      max_tokens: 8,
      return_token_ids: true,
    },
    ...(bearer === undefined ? {} : { bearer }),
  })

const idsOf = (answer: { body: Record<string, unknown> }) =>
  (answer.body['choices'] as { token_ids: number[] }[])[0]?.token_ids

describe('quintain serve-model', () => {
  test('serves a checkpoint, exchanges its weights by the other address, and ends when told to', async () => {
    const argv = ['--token-env', 'CLIENT', '--control-port', '0', '--control-token-file', 'token']
    const { ready, code, stop, out } = await served(['one', ...argv])
    expect(ready).toMatchObject({
      event: 'ready',
      model: 'one',
      weight_version: '0',
      token: true,
      context: 64,
    })
    expect(JSON.stringify(ready)).not.toContain('-token-of-')
    expect((await said(ready.url)).status).toBe(401)
    const [first, again] = [await said(ready.url, token), await said(ready.url, token)]
    expect(first).toMatchObject({ status: 200, body: { weight_version: '0' } })
    expect(idsOf(again)).toEqual(idsOf(first))

    const weights = `${ready.control_url}/v1/weights`
    const swap = (path: string, version?: string) =>
      ask(weights, { body: { path, version }, bearer: control })
    expect(await swap('wide', '9')).toMatchObject({
      status: 400,
      body: { error: { code: 'checkpoint_invalid' } },
    })
    expect(await swap('nowhere')).toMatchObject({
      status: 400,
      body: { error: { code: 'checkpoint_invalid' } },
    })
    expect(await swap('two')).toMatchObject({ status: 409, body: { error: { code: 'version_mismatch' } } })
    expect(idsOf(await said(ready.url, token))).toEqual(idsOf(first))
    expect(await swap('two', 'second')).toMatchObject({ status: 200, body: { version: 'second' } })
    const second = await said(ready.url, token)
    expect(second.body['weight_version']).toBe('second')
    expect(idsOf(second)).not.toEqual(idsOf(first))
    // The same weights as at first say the same again.
    expect(await swap('one', 'third')).toMatchObject({ status: 200, body: { digest: ready.digest } })
    expect(idsOf(await said(ready.url, token))).toEqual(idsOf(first))
    // A version stays that of its weights, also once it is served no more.
    expect(await swap('one', 'second')).toMatchObject({
      status: 409,
      body: { error: { code: 'version_mismatch', message: expect.stringContaining('other weights') } },
    })
    expect(await swap('two', 'second')).toMatchObject({ status: 200, body: { version: 'second' } })
    expect(await swap('')).toMatchObject({ status: 400, body: { error: { param: 'path' } } })

    stop()
    expect(await code).toBe(0)
    expect(out()).toContain('"event":"drained"')
  })

  test('says what it serves and how to measure it', async () => {
    const running = run(['one', '--port', '0', '--threads', '1', '--model-name', 'mine'])
    const shown = await running.first
    expect(shown).toMatch(/mine {2}\([0-9a-f]{12}\)/)
    expect(shown).toMatch(/quintain eval ENV -m mine --base-url http:\/\/127\.0\.0\.1:\d+\/v1 --server vllm/)
    expect(shown).toContain('No token is set')
    running.stop()
    expect(await running.code).toBe(0)
  })

  test.each([
    ['a model without a name', ['one', '--model-name', ''], /--model-name/],
    ['what is no checkpoint', ['nowhere'], /neither a checkpoint .* nor a training/],
    ['an address that others reach without a token', ['one', '--host', '0.0.0.0'], /token is needed/],
    ['an exchange of weights without a token', ['one', '--control-port', '0'], /--control-token-env/],
    ['a control token without a port', ['one', '--control-token-env', 'CONTROL'], /--control-port/],
    [
      'one token for both',
      ['one', '--token-env', 'CONTROL', '--control-port', '0', '--control-token-env', 'CONTROL'],
      /must not have the same token/,
    ],
  ])('refuses %s', async (_, argv, says) => {
    const { code, err, out } = run([...argv, '--port', '0', '--threads', '1'])
    expect(await code).not.toBe(0)
    expect(err()).toMatch(says)
    expect(out()).toBe('')
  })
})
