import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { foldRun, readTrajectory, textOf } from '../../packages/quintain/src/core/index.ts'
import { importForeign } from '../../packages/quintain/src/doors/rows-in/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { setUpPeer } from '../verifiers/peer.ts'
import type { Checks } from './checks.ts'

const run = promisify(execFile)
const here = import.meta.dirname
const canary = /GOLD-CANARY|the target is|cannot grade/

/** What a run says publicly, attempt by attempt, in the order of its tasks and repeats. */
async function attemptsOf(dir: string) {
  const { states, manifest } = await foldRun(dir)
  const attempts = []
  for (const { order, status, chosen } of states) {
    const { nodes } = await readTrajectory(dir, chosen!)
    attempts.push({
      id: order.task,
      epoch: order.repeat + 1,
      error: status === 'faulted',
      reward: chosen!.verdict?.reward ?? null,
      messages: nodes.map(({ message }) => message.role),
      texts: nodes.map(({ message }) => textOf(message.content)),
      sampled: nodes.filter(({ sampled }) => sampled).length,
    })
  }
  const files = ['run.json', 'orders.jsonl', 'attempts.jsonl', 'trajectories.jsonl', 'verdicts.jsonl']
  const leaks = files.filter((name) => canary.test(readFileSync(join(dir, name), 'utf8')))
  return { attempts, manifest, leaks }
}

/** Logs that Inspect wrote, in both its forms, against what Inspect reads in them. */
export async function checkInspect(folder: string, checks: Checks): Promise<void> {
  const python = await pythonEnvironment(here, (text) => checks.say(text))
  if ('unavailable' in python) return checks.skip('inspect_ai', python.unavailable)
  const { stdout } = await run(python.interpreter, [join(here, 'write_inspect.py'), folder], {
    maxBuffer: 2 ** 26,
  })
  interface Sample {
    id: string
    epoch: number
    error: boolean
    reward: number | null
    messages: string[]
    texts: string[]
  }
  const logs = JSON.parse(stdout.trim().split('\n').at(-1)!) as { location: string; samples: Sample[] }[]
  for (const { location, samples } of logs) {
    const kind = location.endsWith('.eval') ? '.eval' : '.json'
    const dir = join(folder, `run${kind}`)
    const imported = await importForeign('inspect', location, { out: dir })
    const { attempts, manifest, leaks } = await attemptsOf(dir)
    checks.equal(
      `inspect ${kind}: every sample is an attempt with its reward and messages, and an error is a fault`,
      attempts.map(({ sampled: _, ...attempt }) => attempt),
      samples,
    )
    checks.equal(
      `inspect ${kind}: what the model said is what was sampled`,
      attempts.map(({ sampled }) => sampled),
      samples.map(({ messages }) => messages.filter((role) => role === 'assistant').length),
    )
    checks.equal(`inspect ${kind}: nothing secret is public`, leaks, [])
    checks.equal(`inspect ${kind}: nothing was left out`, imported.dropped, [])
    checks.equal(
      `inspect ${kind}: the task and the model are named`,
      [manifest.environment.name, imported.policy],
      ['sums', 'mockllm/model'],
    )
  }
}

/** Results that verifiers v0 saved, against what its own environment gave. */
export async function checkVerifiers(folder: string, checks: Checks): Promise<void> {
  const peer = await setUpPeer((text) => checks.say(text))
  if ('unavailable' in peer) return checks.skip('verifiers v0', peer.unavailable)
  const out = join(folder, 'verifiers')
  mkdirSync(out)
  const server = model()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const url = `http://127.0.0.1:${port}/v1`
    const { stdout } = await run(peer.interpreter, [join(here, 'write_verifiers.py'), out, url], {
      maxBuffer: 2 ** 26,
    })
    const told = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
      path: string
      version: string
      outputs: { id: string; reward: number; error: boolean }[]
    }
    checks.say(`verifiers ${told.version} saved ${told.outputs.length} rollouts`)
    const dir = join(folder, 'run-verifiers')
    const imported = await importForeign('verifiers', told.path, { out: dir })
    const { attempts, manifest, leaks } = await attemptsOf(dir)
    checks.equal(
      'verifiers v0: rewards as saved, and none where it saved an error with 0.0',
      attempts.map(({ id, error, reward }) => ({ id, error, reward })),
      told.outputs.map(({ id, error, reward }) => ({ id, error, reward: error ? null : reward })),
    )
    const raised = attempts.find(({ id }) => id === '2')
    checks.equal('verifiers v0: a reward function that raised is a 0 like any other', raised?.reward, 0)
    checks.equal(
      'verifiers v0: which is said',
      imported.warnings.some((text) => text.includes('where a reward function raises')),
      true,
    )
    checks.equal('verifiers v0: nothing secret is public', leaks, [])
    const { sampling } = manifest.seats['agent']!
    checks.equal(
      'verifiers v0: environment, model, settings and threshold are those of its metadata',
      [manifest.environment.name, imported.policy, sampling?.['temperature'], manifest.environment.success],
      ['sums', 'fake', 0.5, true],
    )
  } finally {
    server.close()
  }
}

/** Answers the first question rightly, and refuses the last. */
function model(): Server {
  return createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { messages = [] } = JSON.parse(text === '' ? '{}' : text) as { messages?: { content: string }[] }
    const asked = Number(/\d+/.exec(messages.at(-1)?.content ?? '')?.[0])
    const isRefused = asked === 3
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        isRefused
          ? { error: { message: 'no' } }
          : {
              id: 'x',
              object: 'chat.completion',
              created: 1,
              model: 'fake',
              choices: [
                {
                  index: 0,
                  finish_reason: 'stop',
                  message: { role: 'assistant', content: asked === 0 ? 'ANSWER-0' : 'no idea' },
                },
              ],
              usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
            },
      ),
    )
  })
}
