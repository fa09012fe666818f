import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { foldRun } from '../../core/index.ts'
import { echo, echoLearner, echoRenderer, echoTraining } from './__fixtures__/echo.ts'
import { resumeTraining } from './resume.ts'
import { train } from './train.ts'

test('a training whose disk fills up stops, says so, and goes on to the same weights once there is room', async (context) => {
  const disk = await mkdtemp(join(tmpdir(), 'quintain-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600k', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return context.skip('may not mount a small disk')
  }
  try {
    const settings = { steps: 14, checkpointEvery: 3, keep: 'all' } as const
    const dir = join(disk, 'training')
    const end = await train(await echoTraining({ ...settings, dir }))
    expect(end).toMatchObject({ reason: 'failed', error: { code: 'disk_full' } })
    expect(end.says).toMatch(/full/)
    expect(end.step).toBeGreaterThan(0)

    execFileSync('mount', ['-o', 'remount,size=32m', disk])
    const sitting = { env: echo(), dir, learner: echoLearner(), renderer: echoRenderer() }
    expect(await resumeTraining(sitting)).toMatchObject({ reason: 'done', step: 14 })
    const { states } = await foldRun(dir)
    expect(states.every(({ status }) => status === 'scored')).toBe(true)
    const undisturbed = await echoTraining(settings)
    await train(undisturbed)
    const weights = (of: string) => readFile(join(of, 'checkpoints', 'step-000014', 'table.json'), 'utf8')
    expect(await weights(dir)).toBe(await weights(undisturbed.dir))
  } finally {
    execFileSync('umount', [disk])
  }
})
