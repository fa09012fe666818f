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
  const step = (action: object): Buffer => {
    const text = JSON.stringify({ type: 'step', data: action })
    const known = prepared.get(text) ?? textFrame(text)
    prepared.set(text, known)
    return known
  }
  return {
    async open({ id, split }) {
      const client = idle.pop() ?? (await FrameClient.open(address))
      await ask(client, textFrame(JSON.stringify({ type: 'reset', data: { task_id: id, split } })))
      let verdict: ClientVerdict = { kind: 'none' }
      const play = async (frame: Buffer) => {
        const answer = await ask(client, frame)
        const done = answer.includes('"done":true')
        if (done) verdict = { kind: 'scored', reward: Number(/"reward":([\d.]+)/.exec(answer)?.[1]) }
        return { text: '', done }
      }
      return {
        opening: { text: '', tools: [] },
        call: (name, args) =>
          play(step({ type: 'call_tool', tool_name: name, arguments: JSON.parse(args) as unknown })),
        say: (message) => play(step({ message })),
        end: async () => verdict,
        close: async () => void idle.push(client),
      }
    },
  }
}

async function ask(client: FrameClient, frame: Buffer): Promise<string> {
  const answer = await client.ask(frame)
  if (answer.startsWith('{"type":"error"')) throw new ClientRefused(answer)
  return answer
}
