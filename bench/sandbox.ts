import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { bashDriver, bwrapDriver, type SandboxDriver } from 'quintain/sandbox'
import { inFreshProcess } from './fresh-process.ts'
import { type Bench, figure, type Measurement, median, medianOf } from './measurement.ts'

const module = import.meta.url
const repetitions = 3
const boxes = 60

export interface Turn {
  /** Milliseconds to start a box, run `true` in it, and stop it. */
  medianMs: number
  firstMs: number
}

const drivers: Record<string, () => SandboxDriver> = { bwrap: bwrapDriver, bash: bashDriver }

/** Boxes one after the other. */
export async function oneAfterTheOther(name: string, count: number): Promise<Turn> {
  const driver = drivers[name]!()
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const began = performance.now()
    const box = await driver.start()
    const { exitCode } = await box.exec(['true'])
    await box.stop()
    times.push(performance.now() - began)
    if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`)
  }
  await driver.close?.()
  return { medianMs: median(times.slice(1)), firstMs: times[0]! }
}

/** What a machine takes for the least that there is. */
export async function plainShells(count: number): Promise<Turn> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const began = performance.now()
    await new Promise((resolve, reject) => {
      const child = spawn('/bin/bash', ['-c', 'true'], { stdio: 'ignore', env: {} })
      child.once('error', reject)
      child.once('close', resolve)
    })
    times.push(performance.now() - began)
  }
  return { medianMs: median(times.slice(1)), firstMs: times[0]! }
}

export interface AtOnce {
  failures: number
  wholeMs: number
}

/** So many boxes that are all up at the same moment, each of which then runs a command. */
export async function allAtOnce(name: string, count: number): Promise<AtOnce> {
  const driver = drivers[name]!()
  const began = performance.now()
  let failures = 0
  const open = await Promise.all(
    Array.from({ length: count }, () =>
      driver.start({ limits: { memoryMb: 64, diskMb: 16 } }).catch(() => {
        failures += 1
      }),
    ),
  )
  await Promise.all(
    open.map(async (box, index) => {
      const result = await box?.exec(`echo ${index}`, { wallMs: 60_000 })
      if (result?.stdout !== `${index}\n`) failures += 1
    }),
  )
  await Promise.all(open.map((box) => box?.stop()))
  await driver.close?.()
  return { failures, wholeMs: performance.now() - began }
}

export interface Left {
  processes: number
  mounts: number
  files: number
  groups: number
}

/** What is there after many boxes that was not before. */
export async function leftBy(name: string, count: number): Promise<Left> {
  const before = present()
  await oneAfterTheOther(name, count)
  const after = present()
  return {
    processes: after.processes - before.processes,
    mounts: after.mounts - before.mounts,
    files: after.files - before.files,
    groups: after.groups - before.groups,
  }
}

function present(): Left {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const isBox = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('quintain-box')
    } catch {
      return false
    }
  }
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n')
  const groupFolders = mounts.flatMap((line) =>
    / - cgroup2? /.test(line) ? foldersBelow(line.split(' ')[4]!, 6) : [],
  )
  return {
    processes: names.filter(isBox).length,
    mounts: mounts.length,
    files: readdirSync(tmpdir()).filter((name) => name.startsWith('quintain-box')).length,
    groups: groupFolders.filter((path) => path.includes(`-${process.pid}-`)).length,
  }
}

function foldersBelow(folder: string, depth: number): string[] {
  if (depth === 0) return []
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [`${folder}/${name}`, ...foldersBelow(`${folder}/${name}`, depth - 1)])
  } catch {
    return []
  }
}

export const bench: Bench = {
  title: 'Boxes started, used and stopped',
  about:
    'start a box, run `true`, stop it; beside bash -c true started as a plain process. Then 200 boxes up at the same ' +
    'moment, each running a command; then 1,000 in sequence, and what is left of them. Each in fresh processes.',
  async run(progress) {
    const available = await bwrapDriver().available()
    const measurements: Measurement[] = []
    const memory: Turn[] = []
    const kernel: Turn[] = []
    const plain: Turn[] = []
    for (let run = 0; run < repetitions; run++) {
      memory.push(await inFreshProcess(module, oneAfterTheOther, ['bash', boxes]))
      plain.push(await inFreshProcess(module, plainShells, [boxes]))
      if (available.available) kernel.push(await inFreshProcess(module, oneAfterTheOther, ['bwrap', boxes]))
      progress(
        `run ${run + 1}: memory ${figure(memory[run]!.medianMs)} ms, bwrap ${figure(kernel[run]?.medianMs ?? Number.NaN)} ms`,
      )
    }
    measurements.push(
      medianOf(
        'in memory, after the first',
        'ms',
        memory.map(({ medianMs }) => medianMs),
        { below: 10 },
      ),
      medianOf(
        'in memory, the first of a process',
        'ms',
        memory.map(({ firstMs }) => firstMs),
      ),
      medianOf(
        'bash -c true',
        'ms',
        plain.map(({ medianMs }) => medianMs),
      ),
    )
    if (!available.available) {
      return { measurements, notes: [`bwrap was not measured: ${available.reason}`] }
    }
    const above = kernel.map(({ medianMs }, run) => medianMs - plain[run]!.medianMs)
    measurements.push(
      medianOf('bwrap, above bash -c true', 'ms', above, { below: 50 }),
      medianOf(
        'bwrap, whole',
        'ms',
        kernel.map(({ medianMs }) => medianMs),
      ),
    )
    const crowd = await inFreshProcess(module, allAtOnce, ['bwrap', 200])
    const threads = await inFreshProcess(module, allAtOnce, ['bash', 200])
    const left = await inFreshProcess(module, leftBy, ['bwrap', 1_000])
    measurements.push(
      { what: 'failures among 200 bwrap boxes at once', unit: '', value: crowd.failures, aim: { below: 1 } },
      { what: '200 bwrap boxes up, used and stopped', unit: 's', value: crowd.wholeMs / 1000 },
      {
        what: 'failures among 200 boxes in memory at once',
        unit: '',
        value: threads.failures,
        aim: { below: 1 },
      },
      { what: '200 boxes in memory up, used and stopped', unit: 's', value: threads.wholeMs / 1000 },
      ...(Object.entries(left) as [string, number][]).map(
        ([what, value]): Measurement => ({
          what: `${what} left by 1,000 bwrap boxes`,
          unit: '',
          value,
          aim: { below: 1 },
        }),
      ),
    )
    return { measurements }
  },
}
