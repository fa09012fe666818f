import type { Tally } from '../tally.ts'
import type { HudEpisode } from './episodes.ts'
import { longPrompt } from './faulty.ts'
import { modelServer } from './model-server.ts'
import type { ChannelTold, EvalTold, HudProgram, JobTold, RunTold } from './peers.ts'

/** An environment on its channel, and what was played of it without. */
export interface Served {
  slug: string
  url: string
  /** File of the exported rows. */
  tasks: string
  episodes: readonly HudEpisode[]
}

export interface Bench {
  program: HudProgram
  tally: Tally
}

const rewardOf = ({ end }: HudEpisode) => (end.kind === 'scored' ? end.reward : null)

/** What the runner made of an agent that makes the recorded moves. */
export function checkJob({ tally }: Bench, { slug, episodes }: Served, job: JobTold): void {
  const byName = new Map(job.runs.map((run) => [run.slug, run]))
  const rewards = episodes.map((episode) => rewardOf(episode) ?? Number.NaN)
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  tally.check(`${slug}: errors and mean`, [job.errors, job.mean], [0, mean])
  for (const episode of episodes) {
    const run = byName.get(episode.name)
    if (run !== undefined) checkRun(tally, `${slug}: ${episode.name}`, episode, run)
    else tally.check(`${slug}: ${episode.name} was played`, false, true)
  }
}

function checkRun(tally: Tally, name: string, episode: HudEpisode, run: RunTold): void {
  const reward = rewardOf(episode)
  tally.check(`${name}: reward`, [run.reward, run.failed, run.status], [reward, false, 'completed'])
  const read = (run.prompt ?? []).map(({ content }) => content.text)
  const unread = episode.opening.filter(
    (text) => text !== '' && !read.some((words) => words.startsWith(text)),
  )
  tally.check(`${name}: nothing of the prompt is missing`, unread, [])
  const texts = episode.calls.map(({ text }) => text)
  const heard = (run.calls ?? []).map(({ text }, at) => (texts[at] === undefined ? undefined : text))
  tally.check(`${name}: texts of tools`, heard, texts)
  tally.check(`${name}: subscores`, sumOf(run), reward)
}

/** The subscores weighed: the reward, where none is outside of what subscores can say. */
function sumOf({ subscores }: RunTold): number {
  return (subscores ?? []).reduce((sum, { weight, value }) => sum + weight * value, 0)
}

/** `hud eval` with its agent for OpenAI-compatible servers, and a model that makes the recorded moves. */
export async function checkEval({ program, tally }: Bench, served: Served): Promise<void> {
  const { slug, url, tasks } = served
  // The model knows a task by its prompt, so that of those with the same one it plays the first.
  const prompts = new Set<string>()
  const episodes = served.episodes.filter(({ name, opening }) => {
    const prompt = opening.at(-1)!
    const plays = name.endsWith(' oracle') && !prompts.has(prompt)
    prompts.add(prompt)
    return plays
  })
  const model = await modelServer(episodes)
  try {
    const { code, out } = await program.hud(
      'eval',
      tasks,
      'openai_compatible',
      '--model',
      'script',
      '--config',
      `base_url=${model.url}`,
      '--config',
      'api_key=none',
      '--runtime',
      url,
      '--max-steps',
      '40',
      '--task-ids',
      episodes.map((episode) => episode.slug).join(','),
      '--yes',
      '--json',
    )
    tally.check(
      `${slug}: hud eval ends well`,
      [code, model.unknown, code === 0 ? '' : out.slice(-300)],
      [0, 0, ''],
    )
    const told = jsonIn(out) as EvalTold
    const rewards = Object.fromEntries(
      told.runs.map(({ slug: row, reward, is_error: bad }) => [row, bad ? null : reward]),
    )
    tally.check(
      `${slug}: hud eval, rewards`,
      rewards,
      Object.fromEntries(episodes.map((episode) => [episode.slug, rewardOf(episode)])),
    )
  } finally {
    model.close()
  }
}

/** What the client saw by itself. */
export function checkChannel({ tally }: Bench, episode: HudEpisode, told: ChannelTold): void {
  const reward = rewardOf(episode)
  tally.check('channel: name', told.env, 'gsm8k')
  tally.check(
    'channel: templates are splits',
    told.tasks.some(({ id }) => id === episode.split),
    true,
  )
  tally.check('channel: refusals', told.refused, {
    'grade before a start': -32600,
    'unknown task': -32602,
    'bad arguments': -32602,
    'unknown method': -32601,
    'unknown session': -32600,
  })
  const { heartbeat, resumed, score, adopted, cancelled } = told
  tally.check(
    'channel: a session is kept alive, left, found again and adopted',
    { heartbeat, resumed, score, adopted, cancelled },
    {
      heartbeat: true,
      resumed: true,
      score: reward,
      adopted: reward,
      cancelled: true,
    },
  )
}

/** `hud task start` and `hud task grade`, which are two connections. */
export async function checkSplitCommands(
  { program, tally }: Bench,
  { url, episodes }: Served,
): Promise<void> {
  const episode = episodes[0]!
  const args = JSON.stringify({ id: episode.task })
  const started = await program.hud('task', 'start', episode.split, '--url', url, '--args', args)
  tally.check(
    'hud task start',
    [started.code, started.out.includes(episode.opening.at(-1)!.slice(0, 40))],
    [0, true],
  )
  const graded = await program.hud(
    'task',
    'grade',
    episode.split,
    '--url',
    url,
    '--args',
    args,
    '--answer',
    episode.answer!,
  )
  tally.check('hud task grade', [graded.code, Number(graded.out.trim())], [0, rewardOf(episode)])
}

/** An agent that looks once and is done, in each task of the faulty environment. */
export const faultyEpisodes: readonly HudEpisode[] = [
  'fine',
  'long',
  'unscored',
  'broken',
  'lost',
  'odd',
].map((slug) => ({
  name: slug,
  slug,
  task: slug,
  split: 'train',
  calls: [{ name: 'look', input: { at: null }, text: undefined }],
  answer: 'done',
  opening: [],
  end: { kind: 'unscored', reason: 'not_played' },
}))

/** Episodes without a number are out of the mean, and what is long or odd arrives. */
export function checkFaults({ tally }: Bench, job: JobTold): void {
  const runs = Object.fromEntries(job.runs.map((run) => [run.slug, run]))
  const failed = Object.fromEntries(job.runs.map((run) => [run.slug, run.failed]))
  tally.check('faults: which have no number', failed, {
    fine: false,
    long: false,
    unscored: true,
    broken: true,
    lost: true,
    odd: false,
  })
  tally.check('faults: none of them is in the mean', [job.errors, job.mean], [3, (1 + 1 + 5) / 3])
  tally.check(
    'faults: each says why',
    ['unscored', 'broken', 'lost'].map((slug) =>
      /no_verdict|fault "\w+"|failed/.test(runs[slug]!.error ?? ''),
    ),
    [true, true, true],
  )
  tally.check(
    'faults: a long prompt',
    runs['long']!.prompt?.map(({ content }) => content.text),
    [longPrompt],
  )
  tally.check(
    'faults: a reward that no subscore can hold',
    [runs['odd']!.reward, runs['odd']!.subscores?.map(({ name }) => name), runs['odd']!.info['rewards']],
    [5, ['right'], { right: 1, bonus: 4 }],
  )
  tally.check('faults: nothing secret', JSON.stringify(job).includes('THE-GOLD-ANSWER'), false)
}

/** The object that a command printed, whatever it said before. */
function jsonIn(out: string): unknown {
  const from = out.indexOf('{')
  return { runs: [], ...(from < 0 ? {} : JSON.parse(out.slice(from, out.lastIndexOf('}') + 1))) }
}
