import type { SessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { longText } from './hostile.ts'
import { type Bench, type ClientTold, type Step, type TrlTold, textOfStep, wished } from './peers.ts'

interface Served {
  core: SessionCore
  url: string
}

const end = { name: 'submit_answer', input: { answer: 'done' }, text: '' }
/** `from` is a keyword of Python, and `e-mail` no name at all, so they are shown otherwise. */
const read = { name: 'read', input: { from_: 1, e_mail: null, note: null }, text: '' }
const reset = { name: 'reset_2', input: {}, text: '' }
const nothing = { name: 'nothing', input: {}, text: '' }

/** What goes wrong on this wire when nobody looks, with a plain client. */
export async function checkHostile(
  bench: Bench,
  client: 'ors' | 'openreward',
  { core, url }: Served,
): Promise<void> {
  const check: Bench['check'] = (name, actual, expected) =>
    bench.check(`hostile with ${client}: ${name}`, actual, expected)
  const calls = {
    long: [read, end, end],
    unscored: [end, end],
    broken: [read, end],
    names: [read, reset, nothing, end],
  }
  const ids = Object.keys(calls) as (keyof typeof calls)[]
  const chosen = await Promise.all(
    ids.map(async (id) => ({ ...(await core.task({ id })), calls: calls[id] })),
  )
  const told = await bench.ask<ClientTold>('play.py', {
    client,
    url,
    environment: core.environment.slug,
    splits: ['train'],
    episodes: wished(chosen),
  })
  check('nothing secret is told', JSON.stringify(told).includes('THE-GOLD'), false)
  const { data_id, data_prompt, data_task_spec, level } = told.listings.first
  check(
    'data does not stand in for the task',
    [data_id, data_prompt, data_task_spec, level],
    [...['not the id', 'not the prompt', 1, 3]],
  )
  const steps = Object.fromEntries(ids.map((id, at) => [id, told.episodes[at]!.steps])) as Record<
    string,
    Step[]
  >
  check('40,000 characters of white space arrive unharmed', textOfStep(steps['long']![0]!) === longText, true)
  check(
    'one reward, and none for a call after the end',
    steps['long']!.map(({ reward, finished }) => [reward, finished]),
    [
      [null, false],
      [1, true],
      [null, true],
    ],
  )
  check(
    'an unscored episode raises',
    steps['unscored']!.every(({ raised }) => raised !== undefined),
    true,
  )
  check(
    'a fault raises',
    steps['broken']!.every(({ raised }) => raised !== undefined),
    true,
  )
  const failure = client === 'ors' ? 'RuntimeError' : 'ToolFailed'
  check(
    'as failures of the server',
    [steps['unscored']![0]!.raised, steps['broken']![0]!.raised],
    [failure, failure],
  )
  check('names that are none arrive as they are meant', steps['names']!.map(textOfStep).slice(0, 2), [
    '{"from":1}',
    'reset',
  ])
  check(
    'an unknown tool is a result',
    [steps['names']![2]!.metadata, steps['names']![2]!.reward],
    [{ error: 'unknown_tool' }, null],
  )
  check('and the episode went on', steps['names']![3]!.reward, 1)
}

/** The same with TRL, whose methods always send every parameter. */
export async function checkHostileTrl(bench: Bench, { core, url }: Served): Promise<void> {
  const check: Bench['check'] = (name, actual, expected) =>
    bench.check(`hostile with trl: ${name}`, actual, expected)
  const plain = { ...read, input: { from_: 1 } }
  const calls = { long: [plain, end, end], unscored: [end], broken: [plain, end], names: [plain, reset, end] }
  const ids = Object.keys(calls) as (keyof typeof calls)[]
  const chosen = await Promise.all(
    ids.map(async (id) => ({ ...(await core.task({ id })), calls: calls[id] })),
  )
  const told = await bench.ask<TrlTold>('trl_spec.py', { url, episodes: wished(chosen) })
  check('nothing secret is in its rows', JSON.stringify(told).includes('THE-GOLD'), false)
  check('columns', told.splits['train']!.columns, [
    ...['prompt', 'task_index', 'data_id', 'data_prompt', 'data_task_spec', 'id', 'index', 'level', 'split'],
  ])
  const by = Object.fromEntries(told.episodes.map((episode) => [episode.id, episode])) as Record<
    string,
    TrlTold['episodes'][number]
  >
  check('tools', Object.keys(by['names']!.tools).sort(), ['read', 'reset_2', 'submit_answer'])
  check('parameters', by['names']!.tools['read']!.parameters, [
    ...['from_: float', 'e_mail: str = None', 'note: str = None'],
  ])
  check('40,000 characters of white space arrive unharmed', by['long']!.texts[0] === longText, true)
  check('names that are none arrive as they are meant', by['names']!.texts.slice(0, 2), [
    '{"from":1}',
    'reset',
  ])
  check(
    'rewards, where there is one',
    ids.map((id) => by[id]!.reward),
    [1, null, null, 1],
  )
  check('a call after the end takes no reward back', by['long']!.rewards, [null, 1, null])
}
