import type { SessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import type { CalledEpisode } from '../ors/record.ts'
import type { Peers } from './peers.ts'

export interface Served {
  core: SessionCore
  url: string
  /** Where the generated package lies, and its names. */
  generated: Record<string, string>
  /** What the server wants to be shown. */
  token?: string
}

interface Stepped {
  observation: Record<string, unknown> & { result?: { data: string }; message?: string; text?: string }
  reward: number | null
  done: boolean
}

interface Played {
  tools?: string[]
  prompt: string
  steps: Stepped[]
  state?: { step_count: number; done: boolean; session_id: string; task_id: string }
  task?: string
}

interface Called {
  tools: string[]
  prompt: string
  texts: string[]
  reward: number | null
  done: boolean
}

interface TrlTold {
  schemas: Record<string, { description: string; parameters: { properties: object; required?: string[] } }>
  rows: { task_id: string; index: number; split: string; prompt: unknown }[]
  played: { prompt: string; texts: string[]; rewards: (number | null)[] }[]
  torch: boolean
}

interface AllTold {
  generic: Played[]
  words: Played[]
  tools: Called[]
  typed: Played[]
  trl: TrlTold
}

/** What the validator of the protocol says. */
export async function checkValidator(peers: Peers, { core, url }: Served): Promise<void> {
  const { code, out } = await peers.run(['-m', 'openenv.cli', 'validate', '--url', url])
  peers.check(
    `${core.environment.slug}: openenv validate --url`,
    [code, out.includes('Verdict: PASS')],
    [0, true],
  )
}

/** Plays recordings with every client. */
export async function checkEpisodes(
  peers: Peers,
  { core, url, generated, episodes }: Served & { episodes: readonly CalledEpisode[] },
): Promise<void> {
  const { slug, needs } = core.environment
  const played = episodes.filter(({ calls }) => calls.length > 0)
  const { split } = played[0]!
  const limit = 501
  const told = await peers.ask<AllTold>('play.py', {
    url,
    ...generated,
    split,
    limit,
    words: !needs.includes('tools'),
    episodes: played.map(({ split, index, calls }) => {
      return { split, index, calls: calls.map(({ name, input }) => ({ name, input })) }
    }),
  })
  const check = (what: string, actual: unknown, expected: unknown) =>
    peers.check(`${slug} ${what}`, actual, expected)
  const rewards = played.map(({ recorded: { end } }) => (end.kind === 'scored' ? end.reward : end.kind))
  const textsWanted = played.map(({ calls }) => calls.map(({ text }) => text ?? ''))
  const compare = (client: string, told: Played[], text: (step: Stepped) => string) => {
    const ends = told.map(({ steps }) => steps.map(({ reward, done }) => [reward, done]))
    const wanted = ends.map((steps, at) => [...steps.slice(1).map(() => [null, false]), [rewards[at], true]])
    check(`by ${client}: one reward, on the last step`, ends, wanted)
    const texts = told.map(({ steps }, at) => like(steps.map(text), played[at]!))
    check(`by ${client}: the texts of the engine`, texts, textsWanted)
    const opened = told.map(({ prompt }, at) =>
      played[at]!.recorded.opening.every((one) => prompt.includes(one)),
    )
    check(
      `by ${client}: the prompt`,
      opened,
      played.map(() => true),
    )
  }

  const { generic } = told
  compare('GenericEnvClient', generic, ({ observation }) => observation.result?.data ?? '')
  const states = generic.map(({ state }) => [state!.task_id, state!.step_count, state!.done])
  check(
    'state',
    states,
    played.map(({ recorded, calls }) => [recorded.task, calls.length, true]),
  )
  if (!needs.includes('tools')) compare('words', told.words, ({ observation }) => observation.message ?? '')
  compare('the typed client', told.typed, ({ observation }) => observation.text ?? '')
  // An episode that its agent gave up has no last call, and this client cannot say so.
  const ends = told.tools.map(({ reward, done }) => [reward, done])
  const over = generic.map(({ steps }, at) => steps.length === played[at]!.calls.length)
  check(
    'by MCPToolClient: the reward',
    ends,
    rewards.map((reward, at) => (over[at] ? [reward, true] : [null, false])),
  )
  check(
    'by MCPToolClient: the texts',
    told.tools.map(({ texts }, at) => like(texts, played[at]!)),
    textsWanted,
  )
  check(
    'by MCPToolClient: the tools',
    told.tools.map((one) => one.tools),
    generic.map((one) => one.tools),
  )

  const { schemas, rows, played: rollouts, torch } = told.trl
  const trl = (what: string, actual: unknown, wanted: unknown) =>
    check(`by the class for TRL: ${what}`, actual, wanted)
  const opening = await core.preview({ split, index: played[0]!.index }, { answerTool: true })
  trl('its methods are the tools', Object.keys(schemas).sort(), opening.tools.map(({ name }) => name).sort())
  const shown = opening.tools
    .map(({ name }) => schemas[name])
    .map((schema) => shapeOf(schema!.parameters, schema!.description))
  const specs = opening.tools.map(({ description, parameters }) => shapeOf(parameters, description))
  trl('they say what the tools say', shown, specs)
  const tasks = core.splits.find(({ name }) => name === split)!.tasks
  trl(
    'rows',
    rows.map(({ index }) => index),
    [...Array(Math.min(tasks, limit)).keys()],
  )
  trl(
    'rewards',
    rollouts.map((one) => one.rewards),
    rewards.map((reward) => [reward, reward]),
  )
  trl(
    'texts',
    rollouts.map(({ texts }, at) => like(texts, played[at]!)),
    textsWanted,
  )
  trl('without torch', torch, false)
}

/** What a tool is for, its parameters, and those that must be given. */
function shapeOf(parameters: { properties?: unknown; required?: unknown }, description: string): unknown {
  const { properties = {}, required = [] } = parameters as { properties?: object; required?: string[] }
  return [description.replace(/\s+/g, ' ').trim(), Object.keys(properties).sort(), [...required].sort()]
}

/** Lost sockets and late answers. */
export async function checkLost(peers: Peers, { url, generated, token }: Served): Promise<void> {
  const told = await peers.ask<Record<'late' | 'typed_late' | 'typed_lost' | 'rows', unknown[]>>('lost.py', {
    url,
    token,
    ...generated,
  })
  const [timeout, next, anew] = told.late as string[]
  peers.check(
    'a late answer is not taken for the next',
    [timeout!.split(':')[0], anew],
    ['TimeoutError', 'anew'],
  )
  peers.check('the episode is lost to the plain client, which is told', next!.includes('reset first'), true)
  peers.check('the typed client goes on after a late answer', told.typed_late, ['timeout', 'two', 3, 3, true])
  peers.check('rows of a server with a token', told.rows, ['one'])
  peers.check('it goes on when its socket breaks', told.typed_lost, ['took 800', 2, 2, true])
}

/** As many texts as there were calls; the recording does not hold the words with which an environment ended. */
function like(texts: readonly string[], { calls }: CalledEpisode): string[] {
  return calls.map(({ text }, at) => ((text ?? '') === '' ? '' : texts[at]!))
}
