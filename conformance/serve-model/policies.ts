import { join } from 'node:path'
import { writeCheckpoint } from '../../packages/quintain/src/train/checkpoint.ts'
import { createEmbedded } from '../../packages/quintain/src/train/embedded/index.ts'
import { imitate } from '../../packages/quintain/src/train/imitate.ts'
import { chatRenderer, demonstrationOf, examplesOf, recipe } from '../../packages/quintain/src/train/index.ts'
import { question, replies, request, tools } from './cases.ts'

/** Trains a small policy, in seconds, to answer the cases in a certain way, and saves it. */
export async function savePolicy(folder: string, name: keyof typeof replies): Promise<string> {
  const renderer = chatRenderer({ vocabulary: 'bytes' })
  const learner = await createEmbedded({
    shape: {
      layers: 2,
      width: 64,
      heads: 4,
      feedForward: 256,
      vocabulary: renderer.vocabulary,
      context: 512,
    },
    seed: name,
  })
  const { context } = learner.capabilities
  const { text, again } = replies[name]
  const said = { role: 'assistant', content: text }
  const call = {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_0', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
    ],
  }
  const lines = [
    { messages: [{ role: 'user', content: question }, said] },
    {
      messages: [
        { role: 'user', content: question },
        said,
        { role: 'user', content: 'And tomorrow?' },
        { role: 'assistant', content: again },
      ],
    },
    { messages: [{ role: 'user', content: request }, call], tools },
  ]
  const demonstrations = lines.map((line, at) => demonstrationOf(line, `line ${at}`))
  const { examples } = examplesOf(demonstrations, renderer, { context })
  const { loss } = await imitate({
    learner,
    algorithm: recipe('sft', { groups: examples.length, adam: { learningRate: 3e-3 } }),
    examples,
    steps: 250,
  })
  if (loss === null || loss > 0.02) throw new Error(`the policy did not learn its lines (loss ${loss})`)
  const path = join(folder, name)
  await writeCheckpoint(path, { learner, renderer })
  await learner.close()
  return path
}
