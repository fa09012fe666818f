// `run.resume.stats`: what two sittings on one run spent is added up, tokens and time.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noUsage } from '../../packages/quintain/src/core/index.ts'
import { summarize } from '../../packages/quintain/src/report/index.ts'
import { writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import type { Ops } from './runner/case.ts'

interface Sitting {
  tokens: number
  seconds: number
}

export const ops: Ops = {
  async 'run.resume.stats'(input) {
    const first = input['first'] as Sitting
    const second = input['second'] as Sitting
    const parent = await mkdtemp(join(tmpdir(), 'quintain-case-'))
    const sitting = ({ tokens, seconds }: Sitting, start: number) => ({
      usage: { agent: { ...noUsage, output: tokens } },
      start: new Date(start).toISOString(),
      end: new Date(start + seconds * 1000).toISOString(),
    })
    const began = Date.UTC(2026, 0, 1)
    // The machine stood idle for an hour between the two.
    const later = began + first.seconds * 1000 + 3_600_000
    try {
      const dir = join(parent, 'run')
      await writeSampleRun(dir, {
        orders: [
          {
            task: 'task',
            attempts: [
              { ...sitting(first, began), outcome: 'cancelled', final: false },
              { ...sitting(second, later), reward: 1 },
            ],
          },
        ],
      })
      const summary = await summarize(dir)
      const { fresh, cacheRead, cacheWrite, output } = summary.usage.agent
      return { tokens: fresh + cacheRead + cacheWrite + output, seconds: summary.activeMs / 1000 }
    } finally {
      await rm(parent, { recursive: true, force: true })
    }
  },
}
