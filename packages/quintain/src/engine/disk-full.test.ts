import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environment, foldRun } from '../core/index.ts'
import { modelThat, temporaryFolder } from './__fixtures__/recorded.ts'
import { resumeRun, startRun } from './run.ts'

const env = environment({
  tasks: Array.from({ length: 60 }, (_, at) => ({ id: `t${at}`, prompt: 'x'.repeat(4_000) })),
  rewards: { one: () => 1 },
})
const player = () => ({ model: modelThat(() => 'y'.repeat(4_000)) })

test('a run whose disk fills up stops with a clear error, and resume finishes it once there is room', async (context) => {
  const disk = await temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return context.skip('may not mount a small disk')
  }
  try {
    const dir = join(disk, 'run')
    await expect(startRun({ env, seats: { agent: player() }, dir, concurrency: 4 })).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining(`quintain resume ${dir}`),
    })
    const before = (await foldRun(dir)).states.flatMap(({ chosen }) => chosen?.id ?? [])
    expect(before.length).toBeGreaterThan(5)
    expect(before.length).toBeLessThan(60)
    await expect(resumeRun({ dir, env, players: { agent: player() } })).rejects.toMatchObject({
      code: 'disk_full',
    })

    execFileSync('mount', ['-o', 'remount,size=4m', disk])
    const end = await resumeRun({ dir, env, players: { agent: player() } })
    expect(end.stop).toBeUndefined()
    const { states, issues } = await foldRun(dir)
    expect(issues).toEqual([])
    expect(states.map(({ status, tries }) => [status, tries])).toEqual(Array(60).fill(['scored', 1]))
    const after = new Set(states.map(({ chosen }) => chosen?.id))
    expect(before.filter((id) => !after.has(id))).toEqual([])
  } finally {
    execFileSync('umount', [disk])
  }
})
