import type { SessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { type Bench, type ClientTold, type TrlTold, textOfStep, wished } from './peers.ts'
import type { CalledEpisode } from './record.ts'

export interface Served {
  core: SessionCore
  url: string
  episodes: readonly CalledEpisode[]
}

/** Rewards and marks of the end as the engine has them: none before the last call, one number with it. */
function expectedEnds({ calls, stopped, recorded: { end } }: CalledEpisode): unknown[] {
  if (stopped) return calls.map(() => ({ reward: null, finished: false }))
  const reward = end.kind === 'scored' ? end.reward : end.kind
  const last = calls.length - 1
  return calls.map((_, at) => (at === last ? { reward, finished: true } : { reward: null, finished: false }))
}

/** The texts that a client read, without those of which the recording does not know. */
function knownTexts({ calls }: CalledEpisode, texts: readonly string[]): string[] {
  return texts.filter((_, at) => calls[at]?.text !== undefined)
}

/** Plays recordings with one of the plain clients, and lists what there is to list. */
export async function checkClient(bench: Bench, client: 'ors' | 'openreward', served: Served): Promise<void> {
  const { core, url, episodes } = served
  const { slug } = core.environment
  const { split } = episodes[0]!
  const told = await bench.ask<ClientTold>('play.py', {
    client,
    url,
    environment: slug,
    splits: [split],
    episodes: wished(episodes),
  })
  const check: Bench['check'] = (name, actual, expected) =>
    bench.check(`${slug} with ${client}: ${name}`, actual, expected)
  const { listings } = told
  const tasks = core.splits.find(({ name }) => name === split)!.tasks
  check(
    'splits',
    listings.splits,
    core.splits.map(({ name }) => name),
  )
  check('number of tasks', listings.count, tasks)
  if (listings.listed !== null) check('all tasks', listings.listed, tasks)
  check('the first task', [listings.first['split'], listings.first['index']], [split, 0])
  check(
    'the last task by a negative index',
    listings.last.map(({ index }) => index),
    [tasks - 1],
  )
  const names = episodes.length === 0 ? [] : told.episodes[0]!.tools.map(({ name }) => name)
  check(
    'tools without a session',
    listings.tools.map(({ name }) => name),
    names,
  )
  check("tools in providers' forms", Object.values(listings.providers), Array(3).fill(names.length))

  for (const [at, episode] of episodes.entries()) {
    const { recorded, calls } = episode
    const { steps, prompt, messages, tools } = told.episodes[at]!
    const which = `${recorded.order} ${at}`
    const text = prompt.map((block) => block.text).join('')
    check(
      `${which} is told all`,
      recorded.opening.filter((words) => !text.includes(words)),
      [],
    )
    const shown = tools.map(({ name }) => name)
    check(
      `${which} has its tools`,
      recorded.tools.filter((name) => !shown.includes(name)),
      [],
    )
    check(
      `${which} reads what was recorded`,
      knownTexts(episode, steps.map(textOfStep)),
      knownTexts(
        episode,
        calls.map(({ text = '' }) => text),
      ),
    )
    check(
      `${which} earns what was recorded`,
      steps.map(({ reward, finished }) => ({ reward, finished })),
      expectedEnds(episode),
    )
    if (messages === undefined) continue
    const words = messages.map(({ content }) => content)
    const missing = recorded.opening.filter((one) => !words.some((said) => said.includes(one)))
    check(`${which} is told all as a conversation`, missing, [])
  }
}

/** Plays recordings as TRL does, from the address alone. */
export async function checkTrl(bench: Bench, { core, url, episodes }: Served): Promise<void> {
  const { slug } = core.environment
  const told = await bench.ask<TrlTold>('trl_spec.py', { url, episodes: wished(episodes) })
  const check: Bench['check'] = (name, actual, expected) =>
    bench.check(`${slug} with trl: ${name}`, actual, expected)
  check('no torch was there', told.torch, false)
  const rows = Object.values(told.splits).flatMap((split) => split.rows)
  const ids = episodes.map(({ recorded }) => recorded.task)
  check('rows of the dataset', rows.map(({ id }) => id).sort(), [...ids].sort())
  check(
    'rows begin with an empty prompt',
    rows.every(({ prompt }) => JSON.stringify(prompt).includes('"content":""')),
    true,
  )
  const left = [...episodes]
  for (const { id, prompt, texts, rewards, reward, finished, tools } of told.episodes) {
    const [episode] = left.splice(
      left.findIndex(({ recorded }) => recorded.task === id),
      1,
    )
    const { recorded, calls, stopped } = episode!
    check(
      `${id} is told all`,
      recorded.opening.filter((words) => !prompt.includes(words)),
      [],
    )
    check(
      `${id} has its tools`,
      recorded.tools.filter((name) => !(name in tools)),
      [],
    )
    const expected = calls.map(({ text }) => text || '(no output)')
    check(`${id} reads what was recorded`, knownTexts(episode!, texts), knownTexts(episode!, expected))
    const scored = recorded.end.kind === 'scored' && !stopped ? [recorded.end.reward] : []
    check(`${id} earns what was recorded`, [reward, finished], [scored[0] ?? null, !stopped])
    check(
      `${id} earns it once`,
      rewards.filter((one) => one !== null),
      scored,
    )
  }
}
