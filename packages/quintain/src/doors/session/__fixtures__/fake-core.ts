import { randomBytes } from 'node:crypto'
import type { Content, Fault, JsonSchema, ToolSpec } from '../../../core/index.ts'
import { textOf } from '../../../core/index.ts'
import type {
  ActRequest,
  CallRequest,
  CreateRequest,
  ListedTask,
  Opening,
  Session,
  SessionCore,
  SessionState,
  Settled,
  Step,
  TaskChoice,
} from '../session.ts'
import { SessionError } from '../session-error.ts'

export interface FakeOptions {
  /** `answer`: one question. `game`: three words, the environment replies. `tools`: a counter to be brought to three. */
  kind?: 'answer' | 'game' | 'tools'
  most?: number
  /** How every episode ends instead of with its score. */
  settles?: Settled
  /** Milliseconds that a step takes. */
  stepMs?: number
  slug?: string
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const scored = (reward: number, stop?: string): Settled => ({
  kind: 'scored',
  reward,
  success: reward === 1,
  rewards: { solved: reward },
  metrics: { steps: 1 },
  outcome: stop === undefined ? 'completed' : 'env_done',
  ...(stop === undefined ? {} : { stop }),
})

const tasksOf: ListedTask[] = ['train', 'test'].flatMap((split) =>
  [0, 1, 2].map((index) => {
    const id = `${split}-${index}`
    return { id, split, index, task: { id, split, prompt: `Question ${id}?`, data: { level: index } } }
  }),
)

const objectSchema = (properties: Record<string, unknown>, required: string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const counterTools: ToolSpec[] = [
  {
    name: 'add',
    description: 'Adds to the counter.',
    parameters: objectSchema({ by: { type: 'integer' }, note: { type: 'string' } }, ['by']),
  },
  { name: 'read', description: 'Reads the counter.', parameters: objectSchema({}, []) },
]

/** A core without an engine, for the tests of doors: it keeps the promises of `SessionCore` as far as doors see them. */
export function fakeCore({
  kind = 'answer',
  most = 4,
  settles,
  stepMs = 0,
  slug = 'fake',
}: FakeOptions = {}): SessionCore {
  const sessions = new Map<string, FakeSession>()
  const keys = new Map<string, FakeSession>()
  const refused: Record<string, number> = {}
  let created = 0
  let draining = false
  const refuse = (code: ConstructorParameters<typeof SessionError>[0], message: string): SessionError => {
    refused[code] = (refused[code] ?? 0) + 1
    return new SessionError(code, message)
  }
  const find = (choice: TaskChoice): ListedTask => {
    if ('id' in choice) {
      const found = tasksOf.find(({ id }) => id === choice.id)
      if (found === undefined) throw refuse('unknown_task', `There is no task "${choice.id}".`)
      return found
    }
    const split = choice.split ?? 'train'
    const within = tasksOf.filter((task) => task.split === split)
    if (within.length === 0) throw refuse('unknown_split', `There is no split "${split}".`)
    const index = 'index' in choice ? choice.index : choice.seed.length % within.length
    const found = within[index]
    if (found === undefined) throw refuse('unknown_task', `Split "${split}" has ${within.length} tasks.`)
    return found
  }
  const open = () =>
    [...sessions.values()].filter((one) => one.state !== 'closed' && one.state !== 'settled').length
  return {
    environment: {
      name: `@quintain/${slug}`,
      version: '1.0.0',
      slug,
      description: 'An environment for tests.',
      digest: 'd'.repeat(64),
      needs: kind === 'answer' ? [] : kind === 'game' ? ['turns'] : ['tools'],
      rewards: { solved: 1 },
      metrics: ['steps'],
      success: true,
    },
    splits: [
      { name: 'train', type: 'train', tasks: 3 },
      { name: 'test', type: 'test', tasks: 3 },
    ],
    async tasks(split, from, to) {
      find({ split, index: 0 })
      return tasksOf.filter((task) => task.split === split).slice(from, to)
    },
    task: async (choice) => find(choice),
    newHandle: () => randomBytes(18).toString('base64url'),
    async create(request) {
      if (draining) throw refuse('draining', 'The server takes no more sessions.')
      const task = find(request.task)
      if (request.seed !== undefined && request.seed !== null && request.seed !== 0)
        throw refuse('seed_refused', 'Only seed 0 can be had here.')
      const known = request.key === undefined ? undefined : keys.get(request.key)
      if (known !== undefined) {
        if (known.state === 'closed') throw refuse('session_gone', 'That episode was closed.')
        if (known.task !== task) throw refuse('session_conflict', 'That episode has another task.')
        return known
      }
      if (open() >= most) throw refuse('at_capacity', `All ${most} sessions are in use.`)
      created++
      const handle = request.handle ?? randomBytes(18).toString('base64url')
      const session = new FakeSession(handle, task, { kind, settles, stepMs }, request)
      sessions.set(handle, session)
      if (request.key !== undefined) keys.set(request.key, session)
      return session
    },
    async preview(choice, request = {}) {
      return new FakeSession(
        '',
        find(choice),
        { kind, settles, stepMs },
        { task: choice, ...request },
      ).opened()
    },
    session(handle) {
      const found = sessions.get(handle)
      if (found === undefined) throw refuse('session_unknown', 'There is no such session.')
      if (found.state === 'closed') throw refuse('session_gone', 'That session was closed.')
      return found
    },
    stats: () => ({
      open: open(),
      most,
      draining,
      created,
      scored: 0,
      unscored: 0,
      failed: {},
      steps: { count: 0, totalMs: 0, buckets: [] },
      refused,
    }),
    async drain() {
      draining = true
    },
    async close() {
      for (const session of sessions.values()) await session.close()
    },
  }
}

class FakeSession implements Session {
  readonly handle: string
  readonly task: ListedTask
  private readonly options: {
    kind: NonNullable<FakeOptions['kind']>
    settles: Settled | undefined
    stepMs: number
  }
  private readonly opening: Opening
  private steps = 0
  private count = 0
  private shut = false
  private end: Settled | undefined
  private readonly ended = Promise.withResolvers<Settled>()
  private readonly results = new Map<string, { of: string; step: Promise<Step> }>()
  private queue: Promise<unknown> = Promise.resolve()

  constructor(
    handle: string,
    task: ListedTask,
    options: FakeSession['options'],
    { answerTool }: CreateRequest,
  ) {
    this.handle = handle
    this.task = task
    this.options = options
    const { kind } = options
    const name = answerTool !== true ? undefined : kind === 'game' ? 'say' : 'submit_answer'
    const parameter = kind === 'game' ? 'message' : 'answer'
    this.opening = {
      messages: [
        { role: 'system', content: 'You are tested.' },
        { role: 'user', content: `Question ${task.id}?` },
      ],
      tools: [
        ...(kind === 'tools' ? counterTools : []),
        ...(name === undefined
          ? []
          : [
              {
                name,
                description: 'Says it.',
                parameters: objectSchema({ [parameter]: { type: 'string' } }, [parameter]),
              },
            ]),
      ],
      answerTool: name,
      replies: kind === 'game',
    }
  }

  get state(): SessionState {
    return this.shut ? 'closed' : this.end === undefined ? 'open' : 'settled'
  }

  get verdict(): Settled | undefined {
    return this.end
  }

  async opened(): Promise<Opening> {
    return this.opening
  }

  call({ id, name, arguments: given }: CallRequest): Promise<Step> {
    return this.once(id, JSON.stringify([name, given]), () => {
      const args = (typeof given === 'string' ? JSON.parse(given) : given) as Record<string, unknown>
      if (name === this.opening.answerTool) return this.said(String(args['message'] ?? args['answer']))
      if (this.options.kind !== 'tools' || !counterTools.some((tool) => tool.name === name))
        return { content: `There is no tool "${name}".`, error: 'unknown_tool' }
      if (name === 'read') return { content: String(this.count) }
      if (typeof args['by'] !== 'number')
        return { content: 'by: a number is missing.', error: 'invalid_arguments' }
      this.count += args['by']
      return { content: `now ${this.count}` }
    })
  }

  act({ id, content }: ActRequest): Promise<Step> {
    return this.once(id, textOf(content), () => this.said(textOf(content)))
  }

  async grade({ answer }: { answer?: Content } = {}): Promise<Settled> {
    if (this.shut) throw new SessionError('session_gone', 'That session was closed.')
    if (this.end === undefined && answer !== undefined) await this.act({ content: answer })
    if (this.end === undefined) this.finish(scored(this.options.kind === 'tools' && this.count === 3 ? 1 : 0))
    return this.settled()
  }

  settled(): Promise<Settled> {
    return this.ended.promise
  }

  touch(): void {}

  async close(): Promise<void> {
    this.shut = true
    const fault: Fault = {
      owner: 'platform',
      stage: 'client',
      code: 'session_closed',
      message: 'closed',
      retryable: false,
    }
    this.finish({ kind: 'failed', fault })
  }

  private said(text: string): Step {
    this.steps++
    if (this.options.kind !== 'game') {
      const right = this.options.kind === 'tools' ? this.count === 3 : text === 'right'
      this.finish(scored(Number(right)))
      return { content: '', done: 'completed' }
    }
    if (text === 'right') {
      this.finish(scored(1, 'won'))
      return { content: 'You won.', done: 'won' }
    }
    if (this.steps === 3) {
      this.finish(scored(0, 'lost'))
      return { content: 'You lost.', done: 'lost' }
    }
    return { content: `Not ${text}.` }
  }

  private finish(settled: Settled): void {
    if (this.end !== undefined) return
    this.end = this.options.settles ?? settled
    this.ended.resolve(this.end)
  }

  private once(id: string | undefined, of: string, run: () => Step): Promise<Step> {
    if (this.shut) return Promise.reject(new SessionError('session_gone', 'That session was closed.'))
    const known = id === undefined ? undefined : this.results.get(id)
    if (known !== undefined) {
      if (known.of === of) return known.step
      return Promise.reject(new SessionError('call_conflict', 'That call was another one.'))
    }
    const step = this.queue.then(async () => {
      if (this.options.stepMs > 0) await sleep(this.options.stepMs)
      if (this.end !== undefined) throw new SessionError('episode_over', 'The episode is over.')
      return run()
    })
    this.queue = step.catch(() => {})
    if (id !== undefined) this.results.set(id, { of, step })
    return step
  }
}
