import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './peers.ts'

interface Told {
  told: { text: string; tools: string[] }[]
  reward: number | null
}

const address = 'ORS(base_url="http://127.0.0.1:8000")'
const firstLine = 'from ors.client import ORS\n'

/** Plays an episode of Wordle by the example in docs/doors.md, with either client, as the page says. */
export async function checkDocExample(bench: Bench, url: string): Promise<void> {
  const page = readFileSync(join(import.meta.dirname, '../../docs/doors.md'), 'utf8')
  const code = /```python\n(from ors\.client import ORS\n.*?)```/s.exec(page)?.[1] ?? ''
  bench.check('the page has the example', code.includes(address), true)
  const codes = {
    ors: code.replace(address, `ORS(base_url="${url}")`),
    openreward: code
      .replace(firstLine, 'from openreward import OpenReward as ORS\n')
      .replace(address, 'ORS()'),
  }
  for (const [client, own] of Object.entries(codes)) {
    const { told, reward } = await bench.ask<Told>('doc_example.py', {
      url,
      code: own,
      call: ['say', { message: '[crane]' }],
    })
    bench.check(
      `the example with ${client}: the agent is told its task`,
      told[0]?.text.includes('Wordle'),
      true,
    )
    bench.check(`the example with ${client}: and has its tool`, told[0]?.tools, ['say'])
    bench.check(`the example with ${client}: every guess is answered`, told.length > 1, true)
    bench.check(`the example with ${client}: it ends with a reward`, reward, 0)
  }
}
