import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CliIo } from './io.ts'
import { runCli } from './run-cli.ts'
import { trainRecipes } from './train-flags.ts'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

/** The letter that is shown is to be said again. */
const source = `
import { environment } from 'quintain'
import { z } from 'zod'
const letters = ['a', 'b', 'c']
export default environment({
  options: z.object({ word: z.string().default(''), parted: z.boolean().default(true) }),
  tasks: ({ options }) => ['train', 'validation', 'test'].flatMap((split) =>
    Array.from({ length: 12 }, (_, i) => ({
      id: split + i,
      split: options.parted ? split : split + '-x',
      prompt: letters[i % 3] + options.word,
      secret: { letter: letters[i % 3] },
    })),
  ),
  rewards: { right: ({ task, transcript }) => Number(transcript.answer === task.secret.letter) },
  success: ({ rewards }) => rewards.right === 1,
  policies: {
    *wrong() { yield 'b' },
  },
  *oracle({ task }) { yield task.secret.letter },
})
`

let root: string
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quintain-train-cli-')))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'), 'dir')
  await mkdir(join(root, 'echo'))
  await writeFile(
    join(root, 'echo', 'package.json'),
    JSON.stringify({
      name: 'echo',
      version: '1.0.0',
      type: 'module',
      exports: './index.js',
      quintain: { contract: 1 },
    }),
  )
  await writeFile(join(root, 'echo', 'index.js'), source)
  await writeFile(join(root, 'letters.json'), '["a", "b", "c"]')
  await writeFile(join(root, 'short.json'), '["a"]')
  const chats = Array.from({ length: 60 }, (_, i) => {
    const asked = 'abc'[i % 3]!
    // One in five says "a" whatever is asked.
    const said = i % 5 === 0 ? 'a' : asked
    const messages = [
      { role: 'user', content: asked },
      { role: 'assistant', content: said },
    ]
    return JSON.stringify({ messages, reward: Number(said === asked), success: said === asked })
  })
  const long = {
    messages: [
      { role: 'user', content: 'a'.repeat(20) },
      { role: 'assistant', content: 'a' },
    ],
  }
  await writeFile(join(root, 'long.jsonl'), JSON.stringify(long))
  await writeFile(join(root, 'chats.jsonl'), `${chats.join('\n')}\n`)
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** Types a command. */
async function cli(line: string, more: Partial<CliIo> = {}) {
  let [out, err] = ['', '']
  const code = await runCli(line.trim().split(/\s+/), {
    stdout: { write: (text: string) => (out += text), columns: 200 },
    stderr: { write: (text: string) => (err += text), columns: 200 },
    env: {},
    cwd: root,
    ...more,
  })
  return { code, out, err }
}

const sizes = '--vocabulary letters.json --layers 1 --width 16 --heads 2 --context 16 --threads 1'
const inline = '--isolation inline'
const quick = `--groups 6 --group-size 8 --minibatches 1 --learning-rate 0.02 --threads 1 ${inline}`

describe('imitation, training and measuring, one after the other', () => {
  test('sft makes a checkpoint of conversations', async () => {
    const { code, out, err } = await cli(
      `sft chats.jsonl --out warm ${sizes} --epochs 4 --learning-rate 0.01`,
    )
    expect(code, err).toBe(0)
    expect(out).toMatch(/sft · 15 steps in .* \(done\)/)
    expect(out).toMatch(/learned from +60 examples \(5 distinct\), 4\.0 times/)
    expect(out).toMatch(/held out +nothing \(5 distinct examples; --held-out SHARE/)
    expect(err).toContain('quintain eval ENV -m checkpoint:warm')
    expect(err).toContain('ENV is an environment, with the --option')
    const made = JSON.parse(await readFile(join(root, 'warm', 'made.json'), 'utf8'))
    expect(made).toMatchObject({
      by: 'demonstrations',
      sources: [{ path: 'chats.jsonl' }],
      examples: { learned: 60, distinct: 5, heldOut: 0 },
    })
  })

  test('sft of winners only leaves the others out, and says so', async () => {
    const { code, out } = await cli(
      `sft chats.jsonl --out winners ${sizes} --winners-only --held-out 0 --steps 2`,
    )
    expect(code).toBe(0)
    expect(out).toMatch(/left out +8 no success/)
    expect(out).toMatch(/learned from +52 examples \(3 distinct\)/)
    expect(out).not.toContain('held out')
  })

  test('a checkpoint is measured like any model; the run names its weights and has its tokens', async () => {
    const { code, out, err } = await cli(
      `eval echo ${inline} --split test -m checkpoint:warm --temperature 0 --out measured --json`,
    )
    expect(code, err).toBe(0)
    const summary = JSON.parse(out)
    expect(summary.run.seats.agent.policy).toMatch(/^checkpoint:warm@[0-9a-f]{12}$/)
    expect(summary.orders).toBe(12)
    const rows = JSON.parse((await cli('rows measured --json')).out)
    expect(rows).toMatchObject({ calls: { kept: 12 }, rows: { sampled: 12, 'text-only': 0 } })
  })

  test('a run is learned from like a file', async () => {
    const players = '--policy script:oracle --policy script:wrong'
    await cli(`eval echo ${inline} ${players} --split train --quiet --no-floor --out shown`)
    const { code, out, err } = await cli(`sft shown --out from-runs ${sizes} --winners-only --steps 2`)
    expect(code, err).toBe(0)
    // The oracle's twelve, and the four where "b" is right.
    expect(out).toMatch(/learned from +16 examples/)
    // The next commands are of the environment that was played.
    expect(err).toMatch(/npx quintain train \S*echo --option word= --option parted=true --from from-runs/)
    const held = await cli(`sft shown --out held ${sizes} --held-out 0.25 --steps 2`)
    expect(held.out).toMatch(/learned from +18 examples/)
    expect(held.out).toMatch(
      /held out +\d\.\d+ before, \d\.\d+ after \(6 examples of 3 tasks, not learned from\)/,
    )
    const preferred = await cli('dpo shown --from warm --out preferred --steps 2 --threads 1')
    expect(preferred.code, preferred.err).toBe(0)
    expect(preferred.out).toMatch(/learned from +8 pairs/)
  })

  test('train says what came of it, in an ordinary run with a page', async () => {
    const { code, out, err } = await cli(
      `train echo --from warm ${quick} --steps 12 --eval-every 6 --test-repeats 4 --out trained --html curves.html`,
    )
    expect(code, err).toBe(0)
    expect(out).toMatch(/echo 1\.0\.0 · grpo · embedded, [\d,]+ parameters · 12 of 12 steps/)
    expect(out).toMatch(/temperature 1 +0\.\d+ \[.*\] +[01]\.\d+ \[.*\] +[+-]?\d\.\d+ \[/)
    expect(out).toMatch(/greedy +/)
    expect(err).toContain('quintain eval echo --split test -m checkpoint:trained')
    expect(await readFile(join(root, 'curves.html'), 'utf8')).toContain('12 of 12 steps')
    const report = JSON.parse((await cli('report trained --json')).out)
    expect(report.orders).toBeGreaterThanOrEqual(12 * 6 * 8)
    expect((await cli('report trained --training')).out).toBe(out)
    expect((await cli('report trained')).out).toMatch(/^trained is a training: .*report trained --training/)
    expect((await cli('list .')).out).toMatch(/trained .* training\n/)
  })

  test('resume makes more steps, and --json says what it came to', async () => {
    const { code, out, err } = await cli('resume trained --steps 14 --threads 1 --json --quiet')
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      schema: 'quintain.training-summary',
      steps: 14,
      end: { reason: 'done' },
      planned: 14,
      training: { algorithm: { recipe: 'grpo' } },
    })
  })

  test('a page that it was begun with is kept up when it is gone on with', async () => {
    expect(await readFile(join(root, 'curves.html'), 'utf8')).toContain('14 of 14 steps')
  })

  test('a checkpoint that is taken for a run says what it is', async () => {
    for (const command of ['report warm', 'show warm']) {
      const { code, out } = await cli(command)
      expect(code).toBe(0)
      expect(out).toMatch(/warm is a checkpoint: .*made from +demonstrations, \d+ examples, chats\.jsonl/s)
    }
    expect(JSON.parse((await cli('report warm --json')).out)).toMatchObject({
      checkpoint: 'warm',
      made: { by: 'demonstrations' },
    })
    expect((await cli('report preferred')).out).toMatch(
      /made from +preferences, .*began from +warm \(weights [0-9a-f]{12}\)\n *steps +2\n/s,
    )
  })

  test.each([
    ['weights that are empty', 'weights.safetensors', () => ''],
    [
      'a width that is not theirs',
      'model.json',
      (text: string) => text.replace('"width": 16', '"width": 24'),
    ],
  ])('a checkpoint with %s is called none', async (_, file, spoil) => {
    await rm(join(root, 'spoilt'), { recursive: true, force: true })
    await cp(join(root, 'warm'), join(root, 'spoilt'), { recursive: true })
    const path = join(root, 'spoilt', file)
    const before = await readFile(path, 'utf8')
    await writeFile(path, spoil(before))
    expect(await readFile(path, 'utf8')).not.toBe(before)
    const { code, out, err } = await cli('report spoilt')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('checkpoint_invalid')
  })

  test('what is typed next has the options that were typed, also once it is resumed', async () => {
    const options = '--option parted=false --split train-x'
    const begun = await cli(
      `train echo --from warm ${quick} ${options} --steps 1 --eval-tasks 2 --out parted`,
    )
    expect(begun.code, begun.err).toBe(0)
    const again = await cli('resume parted --steps 2 --threads 1')
    for (const { err } of [begun, again])
      expect(err).toMatch(/quintain eval echo --option parted=false -m checkpoint:parted/)
    expect(begun.err).toMatch(
      /Trains on 6 tasks of split train-x; 3 tasks drawn from it by the seed to choose .*; 3 tasks drawn from it/,
    )
    expect(begun.err).toContain('2 validation tasks say next to nothing')
    expect(begun.out).toContain('echo 1.0.0 (parted=false)')
  })

  test('a training stands for its best checkpoint, which is exported without its optimiser', async () => {
    const exported = await cli('export checkpoint trained --out policy')
    expect(exported.code, exported.err).toBe(0)
    expect(exported.out).toContain('weights.safetensors')
    const score = async (checkpoint: string) => {
      const asked = `eval echo ${inline} -m checkpoint:${checkpoint} --json --quiet --out of-${checkpoint}`
      return JSON.parse((await cli(asked)).out).success.value
    }
    expect(await score('policy')).toBe(await score('trained'))
  })

  test('a policy is held to its reference, also once it is resumed', async () => {
    const { code, err } = await cli(
      `train echo --from warm ${quick} --kl 0.1 --steps 2 --eval-every 2 --out held --quiet`,
    )
    expect(code, err).toBe(0)
    const again = await cli('resume held --steps 3 --threads 1 --json --quiet')
    expect(again.code, again.err).toBe(0)
    const { algorithm } = JSON.parse(again.out).training
    expect(algorithm).toMatchObject({ recipe: 'custom (grpo)', kl: { coefficient: 0.1 } })
  })

  test('a training goes on from any folder, with the reference that it began with and no other', async () => {
    const put = (from: string) => cp(join(root, from), join(root, 'tutor'), { recursive: true })
    await put('warm')
    const { code, err } = await cli(
      `train echo --from warm ${quick} --kl 0.1 --reference tutor --steps 1 --keep-all --eval-every 1 --test-split none --out named --quiet`,
    )
    expect(code, err).toBe(0)
    const record = JSON.parse(await readFile(join(root, 'named', 'train.json'), 'utf8'))
    expect(record).toMatchObject({ from: { path: '../warm' }, reference: { path: '../tutor' } })
    const resume = (steps: number) =>
      cli(`resume ../named --steps ${steps} --threads 2`, { cwd: join(root, 'echo') })
    await writeFile(join(root, 'named', 'checkpoints', 'step-000001', 'optimiser.safetensors'), '')
    const again = await resume(2)
    expect(again.code, again.err).toBe(0)
    expect(again.err).toMatch(
      /step-000001.* cannot be read .*optimiser\.safetensors.* made again from .*step-000000/,
    )
    await put('winners')
    const replaced = await resume(3)
    expect(replaced.code).toBe(2)
    expect(replaced.err).toMatch(/training_mismatch.*reference of this training was replaced/)
    await rm(join(root, 'named', 'train.json'))
    const lost = await resume(3)
    expect(lost.code).not.toBe(0)
    expect(lost.err).toMatch(/run_corrupt.*train\.json is gone.*--from .*step-000002/)
    // Killed at its very beginning a training leaves no more than this.
    for (const name of ['steps.jsonl', 'checkpoints'])
      await rm(join(root, 'named', name), { recursive: true })
    expect((await resume(3)).err).toMatch(/run_corrupt.*ended before it had begun.*Remove the folder/)
  })

  test('Ctrl-C keeps what was made, and resume goes on with it', async () => {
    const stop = new AbortController()
    let err = ''
    const sink = {
      isTTY: true,
      columns: 200,
      write(text: string) {
        err += text
        if (/step [1-9]/.test(text)) stop.abort()
      },
    }
    const { code } = await cli(
      `train echo --from warm ${quick} --steps 400 --eval-every 400 --test-split none --no-collapse --out cut`,
      { stderr: sink, signal: stop.signal },
    )
    expect(code).toBe(3)
    expect(err).toContain('quintain resume cut')
    const { steps } = JSON.parse((await cli('report cut --training --json')).out)
    const again = await cli(`resume cut --steps ${steps + 1} --threads 1`)
    expect(again.code, again.err).toBe(0)
    expect(again.out).toMatch(new RegExp(`${steps + 1} of ${steps + 1} steps .*\\(done\\)`))
  })
})

test('the help names every recipe that learns from rollouts', async () => {
  const { out } = await cli('train --help')
  for (const name of trainRecipes) expect(out).toContain(name)
  expect(trainRecipes).not.toContain('sft')
})

describe('what cannot be', () => {
  const train = `train echo ${inline} --out refused ${sizes}`
  test.each([
    [
      'an unknown recipe',
      `${train} --recipe grop`,
      2,
      /no recipe "grop", did you mean "grpo"\? Recipes of train: grpo(?!.*sft)/,
    ],
    ['a recipe of another command', `${train} --recipe sft`, 2, /learns from demonstrations.*quintain sft/],
    ['a field that no algorithm has', `${train} --set advantage.scael=none`, 2, /did you mean "scale"\?/],
    ['a value that does not do', `${train} --set advantage.scale=often`, 2, /options_invalid/],
    ['a group of one', `${train} --group-size 1`, 2, /group of one has nothing to be compared with/],
    ['stragglers that are none', `${train} --stragglers later`, 2, /over-order=EXTRA_GROUPS/],
    ['a vocabulary that is no file', 'train echo --vocabulary none.json', 2, /there is no such file/],
    ['sizes that do not do', `${train} --heads 5`, 2, /width 16 is not divided by 5 heads/],
    ['a checkpoint with sizes', 'train echo --from warm --layers 3', 2, /leave out --layers/],
    ['a checkpoint that is none', 'train echo --from echo', 2, /checkpoint_invalid.*neither a checkpoint/],
    ['an environment that is none', `train ecko ${sizes}`, 4, /environment_not_found/],
    ['no split to train on', `${train} --option parted=false`, 2, /no split "train"; say which.*train-x/],
    [
      'a shadow that nothing measures',
      `${train} --shadow rihgt`,
      2,
      /no metric or reward "rihgt".*mean "right"/,
    ],
    [
      'a typing error in a field',
      `${train} --set los.name=ppo`,
      2,
      /no field los\.name, did you mean "loss"/,
    ],
    ['one split for two things', `${train} --test-split train`, 2, /asked for two things/],
    ['a teacher that nobody asked for', `${train} --teacher warm`, 2, /--recipe distill/],
    ['no teacher', `${train} --recipe distill`, 2, /--teacher CHECKPOINT/],
    ['a reference without a KL', `${train} --reference warm`, 2, /--kl COEFFICIENT/],
    ['a folder that holds a run', `train echo ${inline} --from warm --out measured`, 2, /run_exists/],
    ['sft without a place', `sft chats.jsonl ${sizes}`, 2, /--out FOLDER/],
    ['sft over something', `sft chats.jsonl ${sizes} --out warm`, 2, /output_exists.*--force/],
    ['text that no token covers', 'sft chats.jsonl --vocabulary short.json --out x', 2, /chats\.jsonl:2/],
    [
      'filters that leave nothing',
      `sft chats.jsonl ${sizes} --min-reward 2 --out x`,
      2,
      /none is left to learn from: 60 below the least reward. Give a --min-reward below 2\.\n/,
    ],
    [
      'conversations that are too long',
      `sft chats.jsonl ${sizes.replace('16 --threads', '3 --threads')} --out x`,
      2,
      /60 longer than the context. The longest has 4 tokens: give --context 4/,
    ],
    [
      'conversations that a checkpoint is too small for',
      'sft long.jsonl --from warm --out x',
      2,
      /made for fewer, and a new one is wanted/,
    ],
    [
      'a choice among attempts, of a file',
      `sft chats.jsonl ${sizes} --best-of-n 3 --out x`,
      2,
      /--best-of-n chooses among the attempts of runs/,
    ],
    ['sft of no file', `sft chat.jsonl ${sizes} --out x`, 2, /chat\.jsonl: there is no such file/],
    ['preferences without a policy', 'dpo pairs.jsonl --out x', 2, /--from CHECKPOINT/],
    ['steps of a run', 'resume measured --steps 3', 2, /--steps is for trainings/],
    ['tasks of a training', 'resume trained -n 3', 2, /--tasks is not for a training/],
    ['a page over something else', `${train} --html chats.jsonl`, 2, /output_exists/],
    ['other weights than a run names', 'eval echo -m checkpoint:warm@000000000000', 2, /other weights/],
  ])('%s', async (_, line, exit, said) => {
    const { code, err, out } = await cli(line)
    expect(err).toMatch(said)
    expect(code).toBe(exit)
    expect(out).toBe('')
  })

  test('text of the environment that the vocabulary does not cover is named', async () => {
    const { code, out } = await cli(`${train} --option word=x ${quick} --steps 3`)
    expect(code, out).toBe(3)
    expect(out).toMatch(
      /no rollout was scored\)[\s\S]*No token of the policy's vocabulary begins "x"[\s\S]*begin anew/,
    )
  })
})
