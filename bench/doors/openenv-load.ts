import {
  ClientRefused,
  type ClientVerdict,
  type EpisodeClient,
  type PlayedTask,
} from '../../packages/quintain/src/doors/episodes/episode-client.ts'
import { FrameClient, textFrame } from './frames.ts'

/**
 * Plays OpenEnv's protocol with frames that are prepared once, and looks no closer at an answer than a load has to. A client
 * plays one episode after the other, each begun by `reset`, as those of OpenEnv and of TRL do.
 */
export function openEnvLoad(url: string): { open(task: PlayedTask): Promise<EpisodeClient> } {
  const address = `${url.replace(/^http/, 'ws')}/ws`
  const prepared = new Map<string, Buffer>()
  const idle: FrameClient[] = []
  const step = (name: string, action: () => object): Buffer => {
    let known = prepared.get(name)
    if (known === undefined) {
      known = textFrame(JSON.stringify({ type: 'step', data: action() }))
      prepared.set(name, known)
    }
    return known
  }
  return {
    async open({ id, split }) {
      const client = idle.pop() ?? (await FrameClient.open(address))
      unlessRefused(
        await client.ask(textFrame(JSON.stringify({ type: 'reset', data: { task_id: id, split } }))),
      )
      let verdict: ClientVerdict = { kind: 'none' }
      const seen = (answer: string) => {
        const done = unlessRefused(answer).includes('"done":true')
        if (done) verdict = { kind: 'scored', reward: Number(/"reward":([\d.]+)/.exec(answer)?.[1]) }
        return { text: '', done }
      }
      const play = (frame: Buffer) => client.ask(frame).then(seen)
      return {
        opening: { text: '', tools: [] },
        call: (name, args) =>
          play(
            step(`call ${name} ${args}`, () => ({
              type: 'call_tool',
              tool_name: name,
              arguments: JSON.parse(args) as unknown,
            })),
          ),
        say: (message) => play(step(message, () => ({ message }))),
        end: async () => verdict,
        close: async () => void idle.push(client),
      }
    },
  }
}

function unlessRefused(answer: string): string {
  if (answer.startsWith('{"type":"error"')) throw new ClientRefused(answer)
  return answer
}
