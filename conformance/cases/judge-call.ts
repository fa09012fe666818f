// Cases of calls to judges: a rollout whose grader asks a model over HTTP, with the answers that a case lists.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, evaluate, foldRun } from '../../packages/quintain/src/index.ts'
import { type FakeBehaviour, startFakeModel } from '../../packages/quintain/src/models/fake-server.ts'
import { createChatModel } from '../../packages/quintain/src/models/index.ts'
import type { Ops } from './runner/case.ts'

/** What the provider of a judge does, in the words of a case: `timeout`, a status with its reason, or what the judge says. */
function behaviourOf(response: string): FakeBehaviour {
  if (/^(?:timeout|hang)/.test(response)) return { kind: 'hang' }
  if (/^(?:reset|disconnect|connection)/.test(response)) return { kind: 'reset' }
  const [, status, reason] = /^([1-5]\d\d)(?:\s+(.*))?$/.exec(response) ?? []
  if (status !== undefined && Number(status) >= 300)
    return { kind: 'status', status: Number(status), body: { error: { message: reason ?? '' } } }
  return {
    kind: 'ok',
    message: { role: 'assistant', content: (status === undefined ? response : reason) || '1' },
  }
}

async function callJudge(responses: readonly string[], attempts: number) {
  const script = responses.map(behaviourOf)
  const fake = await startFakeModel({ script, otherwise: script.at(-1) ?? { kind: 'ok' } })
  const judge = createChatModel({
    model: 'judge',
    baseUrl: fake.url,
    deadlines: { firstByteMs: 200, idleMs: 200 },
    retry: { maxRetries: attempts - 1, baseMs: 1 },
  })
  const env = environment({
    tasks: [{ id: 'sample', prompt: 'go' }],
    judges: ['judge'],
    rewards: {
      judged: async ({ judge: ask, transcript }) => {
        const { text } = await ask('judge', { messages: [{ role: 'user', content: transcript.answer }] })
        return Number(text)
      },
    },
  })
  const dir = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  try {
    const run = await evaluate(env, { agent: () => 'done', judges: { '*': judge }, maxTries: 1, dir })
    const { chosen, status } = (await foldRun(dir)).states[0]!
    return {
      score: status === 'scored' ? chosen!.verdict!.reward : null,
      status: chosen?.fault === null ? status : `${chosen?.fault.owner}_error`,
      code: chosen?.fault?.code,
      calls: fake.count,
      sample_counted_as_fail: status !== 'scored' && run.summary.reward.observed === 0,
    }
  } finally {
    await judge.close?.()
    await fake.close()
    await rm(dir, { recursive: true, force: true })
  }
}

export const ops: Ops = {
  'judge.call': ({ responses, max_attempts: attempts }) =>
    callJudge((responses as unknown[]).map(String), Number(attempts ?? 1)),
}
