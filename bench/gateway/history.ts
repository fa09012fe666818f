import type { Message, ModelHandle, ModelResponse } from '../../packages/quintain/src/core/index.ts'
import { Recorder } from '../../packages/quintain/src/core/recorder.ts'
import { SeatModel } from '../../packages/quintain/src/gateway/index.ts'
import { openGateway } from '../../packages/quintain/src/gateway/open-gateway.ts'
import { promptText, replyText } from '../single-turn/text.ts'

/**
 * A conversation of `turns` turns that comes to `bytes`, whose whole history a program sends anew with each turn. Gives
 * the bytes of the history at its end, those of its record, and the milliseconds that its last turn took.
 */
export async function longHistory(
  turns: number,
  bytes: number,
): Promise<{ historyBytes: number; recordBytes: number; sentBytes: number; lastMs: number }> {
  const perMessage = bytes / turns / 2
  const answer = (): ModelResponse => ({
    message: { role: 'assistant', content: replyText(perMessage) },
    finish: 'stop',
    costUsd: 0,
  })
  const recorder = new Recorder()
  const signal = new AbortController().signal
  const seat: ModelHandle = new SeatModel({
    seat: 'agent',
    model: { id: 'bench:model', generate: async () => answer() },
    recorder,
    limits: {},
    sampling: {},
    redact: (text) => text,
    clock: undefined,
    signal,
    startedAt: performance.now(),
    context: { attempt: 'a', task: 't', repeat: 0 },
  })
  const gateway = await openGateway()
  const { baseURL, apiKey } = gateway.open({ seat, signal })
  const messages: Message[] = []
  let sentBytes = 0
  let lastMs = 0
  for (let turn = 0; turn < turns; turn++) {
    // The history alone is to be long: text of one's own in every message.
    const content = promptText(turn, 40) + 'word '.repeat((perMessage - 40) / 5)
    messages.push({ role: 'user', content })
    const body = JSON.stringify({ model: 'm', messages })
    sentBytes += body.length
    const began = performance.now()
    const reply = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body,
    })
    const { choices } = (await reply.json()) as { choices: [{ message: { content: string } }] }
    lastMs = performance.now() - began
    messages.push({ role: 'assistant', content: choices[0].message.content })
  }
  await gateway.close()
  const { nodes, calls } = recorder.graph()
  return {
    historyBytes: JSON.stringify(messages).length,
    recordBytes: JSON.stringify({ nodes, calls }).length,
    sentBytes,
    lastMs,
  }
}
