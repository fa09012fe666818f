import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../core/canonical.ts'
import { savedState } from './__fixtures__/saved-state.ts'
import { createTableLearner } from './__fixtures__/table-engine.ts'
import { chatRenderer } from './chat-renderer.ts'
import { checkpointDigest, checkpointFiles, readRenderer, writeCheckpoint } from './checkpoint.ts'
import { readEngineState, readModelShape, writeEngineState } from './engine-state.ts'
import { replaceFolder } from './replace-folder.ts'
import { encodeSafetensors } from './safetensors.ts'

let root: string
let folder: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-checkpoint-'))
  folder = join(root, 'policy')
})
afterEach(() => rm(root, { recursive: true, force: true }))

const { model } = savedState(0)
const names = () => readdir(root)

describe('a learner that was written', () => {
  it('is read as it was', async () => {
    await writeEngineState(folder, savedState(7))
    expect(await readEngineState(folder, { model })).toEqual(savedState(7))
    const { optimiser: _, ...alone } = savedState(7)
    expect(await readEngineState(folder, { optimiser: false })).toEqual(alone)
    expect(await readModelShape(folder)).toEqual(model)
    expect((await readdir(folder)).sort()).toEqual(
      ['model.json', 'optimiser.safetensors', 'state.json', 'weights.safetensors'].sort(),
    )
  })

  it('is read from the golden files of its version', async () => {
    const golden = join(import.meta.dirname, '__golden__', 'checkpoint.v1')
    expect(await readEngineState(golden, { model })).toEqual(savedState(7))
    expect((await readRenderer(golden)).describe()).toEqual({
      schema: 'quintain.renderer',
      v: 1,
      vocabulary: ['a', 'aG'],
      omit: ['system', 'first_user'],
    })
    expect(await checkpointDigest(golden)).toBe(
      'd625c0ec3a2a994134072e93040c18b16d191fb0fbe270d5bbfbbfa5c07552d2',
    )
  })

  it('without an optimiser gives its weights, and says so to one who wants more', async () => {
    const { optimiser: _, ...alone } = savedState(7)
    await writeEngineState(folder, alone)
    expect(await readEngineState(folder, { optimiser: false })).toEqual(alone)
    await expect(readEngineState(folder)).rejects.toMatchObject({
      code: 'checkpoint_invalid',
      message: expect.stringContaining('without an optimiser'),
    })
  })

  it('is refused where it is of another shape, naming the sizes', async () => {
    await writeEngineState(folder, savedState(7))
    const wider = { ...model, sizes: { ...model.sizes, width: 4 } }
    await expect(readEngineState(folder, { model: wider })).rejects.toMatchObject({
      code: 'checkpoint_invalid',
      message: expect.stringContaining('width 2 and not 4'),
    })
    await expect(readEngineState(folder, { model: { ...model, kind: 'other' } })).rejects.toMatchObject({
      code: 'checkpoint_invalid',
    })
  })

  it("is refused when any of its files is cut, changed, another save's or gone", async () => {
    const other = join(root, 'other')
    await writeEngineState(other, savedState(8))
    for (const file of [
      checkpointFiles.weights,
      checkpointFiles.optimiser,
      checkpointFiles.model,
      checkpointFiles.state,
    ]) {
      const refused = async (spoil: (path: string) => Promise<unknown>): Promise<void> => {
        await writeEngineState(folder, savedState(7))
        await spoil(join(folder, file))
        await expect(readEngineState(folder, { model })).rejects.toMatchObject({
          code: 'checkpoint_invalid',
          facts: { folder },
        })
      }
      await refused(async (path) => writeFile(path, (await readFile(path)).subarray(0, -3)))
      await refused(async (path) =>
        writeFile(path, Buffer.concat([(await readFile(path)).subarray(0, -3), Buffer.alloc(3)])),
      )
      await refused((path) => rm(path))
      // The shape of both is one.
      if (file !== checkpointFiles.model) await refused((path) => cp(join(other, file), path))
    }
    await expect(readEngineState(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'checkpoint_invalid' })
  })

  it('is not written when its numbers are none, and the one before stays', async () => {
    await writeEngineState(folder, savedState(7))
    const broken = savedState(8)
    broken.weights.get('head')!.data[3] = Number.NaN
    await expect(writeEngineState(folder, broken)).rejects.toMatchObject({
      code: 'not_finite',
      message: expect.stringContaining('head[3] is NaN'),
    })
    expect(await readEngineState(folder)).toEqual(savedState(7))
  })

  it('is refused when its numbers are none, whoever wrote it', async () => {
    const { weights } = savedState(7)
    await writeEngineState(folder, savedState(7))
    weights.get('head')!.data[3] = Number.NaN
    const bytes = encodeSafetensors({ tensors: weights })
    await writeFile(join(folder, checkpointFiles.weights), bytes)
    const statePath = join(folder, checkpointFiles.state)
    const state = JSON.parse(await readFile(statePath, 'utf8'))
    state.digests[checkpointFiles.weights] = sha256(bytes)
    await writeFile(statePath, JSON.stringify(state))
    await expect(readEngineState(folder)).rejects.toMatchObject({
      code: 'checkpoint_invalid',
      message: expect.stringContaining('head[3] is NaN'),
    })
  })
})

describe('a checkpoint', () => {
  const renderer = chatRenderer({ vocabulary: ['a', 'aG'], omit: ['first_user'] })

  it('carries its renderer beside the files of the learner', async () => {
    const learner = createTableLearner({ vocabulary: renderer.vocabulary })
    await writeCheckpoint(folder, { learner, renderer })
    await createTableLearner({ vocabulary: renderer.vocabulary }).load(folder)
    expect((await readRenderer(folder)).describe()).toEqual(renderer.describe())
    await writeFile(join(folder, checkpointFiles.renderer), '{"schema":"quintain.renderer","v":2}')
    await expect(readRenderer(folder)).rejects.toMatchObject({ code: 'checkpoint_invalid' })
  })

  it('is refused with a renderer that is not its own, and believed where it does not say which is', async () => {
    const write = (where: string, texts: readonly string[]) =>
      writeCheckpoint(where, {
        learner: { save: (draft) => writeEngineState(draft, savedState(1)) },
        renderer: chatRenderer({ vocabulary: texts }),
      })
    const other = join(root, 'other')
    await write(folder, ['a', 'b'])
    await write(other, ['b', 'a'])
    const file = join(folder, checkpointFiles.renderer)
    const own = await readFile(file)
    await cp(join(other, checkpointFiles.renderer), file)
    await expect(readRenderer(folder)).rejects.toMatchObject({
      code: 'checkpoint_invalid',
      message: expect.stringContaining('renderer.json is not what was saved with it'),
    })
    await writeFile(file, own)
    expect((await readRenderer(folder)).describe().vocabulary).toEqual(['a', 'b'])
    expect(await readEngineState(folder)).toEqual(savedState(1))
    // As it was written before renderers had a digest.
    const state = join(folder, checkpointFiles.state)
    const { digests, ...rest } = JSON.parse(await readFile(state, 'utf8'))
    delete digests[checkpointFiles.renderer]
    await writeFile(state, JSON.stringify({ ...rest, digests }))
    await readRenderer(folder)
  })

  it('has one digest for one policy, whatever was kept to train it', async () => {
    const write = async (version: number, vocabulary = ['a']): Promise<string> => {
      await writeCheckpoint(folder, {
        learner: { save: (draft) => writeEngineState(draft, savedState(version)) },
        renderer: chatRenderer({ vocabulary }),
      })
      return await checkpointDigest(folder)
    }
    const digest = await write(1)
    await rm(join(folder, checkpointFiles.optimiser))
    expect(await checkpointDigest(folder)).toBe(digest)
    expect(await write(2)).not.toBe(digest)
    expect(await write(1, ['b'])).not.toBe(digest)
    expect(await write(1)).toBe(digest)
  })
})

describe('what was there before', () => {
  beforeEach(() => writeEngineState(folder, savedState(1)))

  it('stays when writing fails, and nothing is left beside it', async () => {
    const failing = replaceFolder(folder, async (draft) => {
      await writeFile(join(draft, 'half'), 'half')
      throw new Error('no more')
    })
    await expect(failing).rejects.toThrow('no more')
    expect(await readEngineState(folder)).toEqual(savedState(1))
    expect(await names()).toEqual(['policy'])
  })

  it('is found where a writer was killed before the new one had its name, and by the next writer', async () => {
    await rename(folder, join(root, '.policy.earlier'))
    await cp(join(root, '.policy.earlier'), join(root, '.policy.draft'), { recursive: true })
    expect(await readEngineState(folder)).toEqual(savedState(1))
    await expect(replaceFolder(folder, () => Promise.reject(new Error('no more')))).rejects.toThrow('no more')
    expect(await names()).toEqual(['policy'])
    await writeEngineState(folder, savedState(2))
    expect(await readEngineState(folder)).toEqual(savedState(2))
    expect(await names()).toEqual(['policy'])
  })

  it('is removed by the next writer where one was killed after the new one had its name', async () => {
    await cp(folder, join(root, '.policy.earlier'), { recursive: true })
    await writeEngineState(folder, savedState(2))
    expect(await readEngineState(folder)).toEqual(savedState(2))
    expect(await names()).toEqual(['policy'])
  })

  it('or the new one is there at any time', async () => {
    let isDone = false
    const seen: boolean[] = []
    const look = (): void => {
      seen.push(existsSync(folder) || existsSync(join(root, '.policy.earlier')))
      if (!isDone) setImmediate(look)
    }
    look()
    for (let version = 2; version < 6; version++) await writeEngineState(folder, savedState(version))
    isDone = true
    expect(seen.length).toBeGreaterThan(20)
    expect(seen).not.toContain(false)
  })

  it('or what was written last is whole after a kill at any time', async () => {
    const script = join(import.meta.dirname, '__fixtures__', 'save-over-and-over.ts')
    for (const after of [1, 3, 8]) {
      const writer = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
      let told = ''
      writer.stdout.on('data', (text) => {
        told += String(text)
        if (told.split('\n').length > after) writer.kill('SIGKILL')
      })
      await once(writer, 'close')
      const last = told.trim().split('\n').length
      const { version } = await readEngineState(folder)
      // It may have been killed between the end of writing and its telling.
      expect([last, last + 1]).toContain(version)
      expect(await readEngineState(folder)).toEqual(savedState(version))
    }
  })

  it('stays when the disk is full', async (context) => {
    const disk = await mkdtemp(join(tmpdir(), 'quintain-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' })
    } catch {
      return context.skip('may not mount a small disk')
    }
    try {
      const small = join(disk, 'policy')
      await writeEngineState(small, savedState(1))
      const large = savedState(2)
      const data = new Float32Array(20_000)
      const failing = writeEngineState(small, {
        ...large,
        weights: new Map([['head', { shape: [20_000], data }]]),
      })
      await expect(failing).rejects.toMatchObject({ code: 'disk_full' })
      expect(await readEngineState(small)).toEqual(savedState(1))
      expect(await readdir(disk)).toEqual(['policy'])
    } finally {
      execFileSync('umount', [disk])
      await rm(disk, { recursive: true })
    }
  })

  it('stays when the place cannot be written', async (context) => {
    if (process.getuid?.() === 0) return context.skip('root writes anywhere')
    await chmod(root, 0o500)
    await expect(writeEngineState(folder, savedState(2))).rejects.toMatchObject({ code: 'output_io' })
    await chmod(root, 0o700)
    expect(await readEngineState(folder)).toEqual(savedState(1))
  })
})
