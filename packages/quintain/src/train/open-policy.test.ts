import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../core/canonical.ts'
import { madeUpEnd, madeUpTraining } from './__fixtures__/made-up-history.ts'
import { chatRenderer } from './chat-renderer.ts'
import { writeCheckpoint } from './checkpoint.ts'
import { createEmbedded } from './embedded/index.ts'
import { checkpointIn, openPolicy } from './open-policy.ts'

const renderer = chatRenderer({ vocabulary: ['a', 'b', 'ab'] })
let root = ''
let saved = ''
let count = 0
let training = ''
let own = ''

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-open-policy-'))
  saved = join(root, 'saved')
  const shape = {
    layers: 1,
    width: 16,
    heads: 2,
    feedForward: 8,
    vocabulary: renderer.vocabulary,
    context: 16,
  }
  const learner = await createEmbedded({ shape, seed: '1', threads: 1 })
  await writeCheckpoint(saved, { learner, renderer })
  await learner.close()
})
afterAll(() => rm(root, { recursive: true, force: true }))

beforeEach(async () => {
  training = join(root, `training-${++count}`)
  own = join(training, 'checkpoints', 'step-000008')
  await cp(saved, own, { recursive: true })
  await writeFile(join(training, 'train.json'), JSON.stringify(madeUpTraining()))
  await ends(8)
})

async function ends(step: number, best?: string): Promise<void> {
  const end = { ...madeUpEnd(step), ...(best === undefined ? {} : { best }) }
  await writeFile(join(training, 'steps.jsonl'), `${JSON.stringify(end)}\n`)
}

/** Changes a file, and says in the state that it was saved so, as whoever means harm would. */
async function forge(file: string, change: (text: string) => string): Promise<void> {
  const changed = change(await readFile(join(own, file), 'latin1'))
  await writeFile(join(own, file), changed, 'latin1')
  if (file === 'state.json') return
  const state = JSON.parse(await readFile(join(own, 'state.json'), 'utf8'))
  state.digests[file] = sha256(Buffer.from(changed, 'latin1'))
  await writeFile(join(own, 'state.json'), JSON.stringify(state))
}

interface Entry {
  dtype: string
  shape: readonly number[]
  data_offsets: readonly number[]
}

/** Gives the weights a header of one's own, before the same numbers. */
const header = (change: (fields: Record<string, Entry>) => unknown) =>
  forge('weights.safetensors', (text) => {
    const bytes = Buffer.from(text, 'latin1')
    const end = 8 + Number(bytes.readBigUInt64LE(0))
    const changed = Buffer.from(JSON.stringify(change(JSON.parse(bytes.toString('utf8', 8, end)))))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(changed.length))
    return Buffer.concat([length, changed, bytes.subarray(end)]).toString('latin1')
  })

describe('a training', () => {
  test('is opened at the checkpoint that it chose', async () => {
    await cp(saved, join(training, 'checkpoints', 'step-000009'), { recursive: true })
    const { folder, version, close } = await openPolicy(training, { threads: 1 })
    await close()
    expect({ folder, version }).toEqual({ folder: own, version: 0 })
  })

  test('is opened where it lies behind a link', async () => {
    const link = join(root, `link-${count}`)
    await symlink(training, link)
    expect(await checkpointIn(link)).toBe(join(link, 'checkpoints', 'step-000008'))
  })

  test.each([
    '../saved',
    '..',
    '.',
    '',
    'checkpoints/../../saved',
    'checkpoints/step-8',
    '/etc',
    'evals/step-000008',
  ])('does not name a checkpoint outside of its own: %j', async (best) => {
    await ends(8, best)
    await expect(checkpointIn(training)).rejects.toMatchObject({ code: 'run_corrupt' })
  })

  test('does not lead outside by a link', async () => {
    await rm(own, { recursive: true })
    await symlink(saved, own)
    await expect(checkpointIn(training)).rejects.toMatchObject({ code: 'run_corrupt' })
    await rm(join(training, 'checkpoints'), { recursive: true })
    await mkdir(join(root, `away-${count}`))
    await cp(saved, join(root, `away-${count}`, 'step-000008'), { recursive: true })
    await symlink(join(root, `away-${count}`), join(training, 'checkpoints'))
    await expect(checkpointIn(training)).rejects.toMatchObject({ code: 'run_corrupt' })
  })
})

describe('a checkpoint that somebody made up', () => {
  const refused = () =>
    expect(openPolicy(own, { threads: 1 })).rejects.toMatchObject({ code: 'checkpoint_invalid' })

  test.each(['weights.safetensors', 'model.json', 'state.json', 'renderer.json'])(
    'is not read through a link: %s',
    async (file) => {
      await rename(join(own, file), join(own, 'kept'))
      await symlink(join(own, 'kept'), join(own, file))
      await refused()
      await rm(join(own, file))
      await symlink('/dev/zero', join(own, file))
      await refused()
      await rm(join(own, file))
      await mkdir(join(own, file))
      await refused()
    },
  )

  test('is not read where it is larger than any', async () => {
    // A file with a hole takes no room.
    await truncate(join(own, 'weights.safetensors'), 2 ** 40)
    await refused()
  })

  test.each(['layers', 'width', 'heads', 'feedForward', 'vocabulary', 'context'])(
    'is refused for a size that is none: %s',
    async (name) => {
      for (const size of [1e9, 0, -8, 2.5]) {
        await forge('model.json', (text) => {
          const model = JSON.parse(text)
          return JSON.stringify({ ...model, sizes: { ...model.sizes, [name]: size } })
        })
        await refused()
      }
    },
  )

  test('is refused for tensors that are not those of its shape', async () => {
    const before: Record<string, Entry> = {}
    await header((fields) => Object.assign(before, fields))
    await (await openPolicy(own, { threads: 1 })).close()
    const { embedding, norm, ...others } = before
    const nothing = { dtype: 'F32', shape: [0], data_offsets: [0, 0] }
    for (const changed of [
      { ...others, norm },
      { ...before, more: nothing },
      { ...before, norm: embedding, embedding: norm },
      { ...before, embedding: { ...embedding, shape: [embedding!.shape[1], embedding!.shape[0]] } },
      { ...before, embedding: { ...embedding, dtype: 'F16' } },
      { ...before, embedding: { ...embedding, data_offsets: [0, 2 ** 52] } },
      { ...before, embedding: { ...embedding, data_offsets: [-4, embedding!.data_offsets[1]! - 4] } },
      JSON.parse('{"__proto__": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'),
      [],
      'x',
    ]) {
      await header(() => changed)
      await refused()
    }
  })

  test('is refused for a vocabulary that is none, or too large for its weights', async () => {
    for (const vocabulary of [[], [''], ['a', 'a'], Array.from({ length: 50 }, (_, at) => `${at}`)]) {
      await forge('renderer.json', (text) => JSON.stringify({ ...JSON.parse(text), vocabulary }))
      await refused()
    }
  })
})
