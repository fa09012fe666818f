import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitCodeOfRun, exitCodes } from '../../packages/quintain/src/cli/exit-codes.ts'
import { printable } from '../../packages/quintain/src/report/printable.ts'
import { type SampleAttempt, writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import { summarize } from '../../packages/quintain/src/report/summarize.ts'
import { healthWarnings } from '../../packages/quintain/src/report/warnings.ts'

type Input = Record<string, unknown>

/** What became of a sample, in the words of the cases. */
function attemptsOf(sample: unknown): SampleAttempt[] {
  if (sample === 'pass' || sample === 'success' || sample === 'ok') return [{ reward: 1 }]
  if (sample === 'fail' || sample === 'failure') return [{ reward: 0 }]
  if (sample === 'timeout') return [{ reward: 0, outcome: 'wall_limit' }]
  if (sample === 'unscored') return [{ unscored: 'unscored' }]
  if (sample === 'cancelled') return [{ outcome: 'cancelled' }]
  if (sample === 'pending' || sample === 'missing') return []
  return [{ fault: { code: String(sample) } }]
}

export const ops: Record<string, (input: Input) => unknown> = {
  'cli.exit_code': async ({ samples, threshold }) => {
    const root = await mkdtemp(join(tmpdir(), 'quintain-case-'))
    try {
      const dir = join(root, 'run')
      await writeSampleRun(dir, {
        orders: (samples as unknown[]).map((sample, i) => ({ task: `t${i}`, attempts: attemptsOf(sample) })),
      })
      const code = exitCodeOfRun(
        await summarize(dir),
        threshold === undefined || threshold === null ? undefined : Number(threshold),
      )
      return { exit_code: code, exit_code_nonzero: code !== exitCodes.done }
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  },

  'train.preflight': ({ clipped_ratio, reward_mean }) => {
    const [warning] = healthWarnings({
      finished: 1,
      truncated: Number(clipped_ratio),
      meanReward: typeof reward_mean === 'number' ? reward_mean : null,
    })
    return { warning: warning?.code ?? null }
  },

  'run.health': ({ empty_outputs, total }) => {
    const [warning] = healthWarnings({ finished: Number(total), empty: Number(empty_outputs) })
    return { alert: warning?.code ?? null }
  },

  'cli.print': ({ text }) => {
    const shown = printable(String(text))
    return {
      shown,
      control_sequences_emitted: shown.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g)?.length ?? 0,
    }
  },
}
