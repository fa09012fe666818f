import type {
  Artefacts,
  EnvironmentBoxOptions,
  ExecOptions,
  ExecResult,
  GradingBox,
  GradingBoxOptions,
  GradingSandbox,
  Said,
  Sandbox,
} from '../core/index.ts'
import { now } from '../core/own-time.ts'
import type { BoxDoor, BoxRequest, Settled, StartedBox } from './box-protocol.ts'

/** Time that nobody is to pay for. */
export interface Hold {
  /** Milliseconds so far, what goes on now included. */
  waitedMs(): number
}

/** Why something was not kept that is no loss: it was not there, is no file, or is a link to what is none of the agent's. */
const harmless: ReadonlySet<string> = new Set(['missing', 'wrong_kind', 'outside'])

/** The boxes of an attempt as its world and its graders see them, and the time that it waited for room. */
export class AttemptBoxes implements Hold {
  private readonly door: BoxDoor
  private readonly onWait: (waiting: boolean) => void
  private readonly open = new Set<number>()
  /** What a reader of the attempt is to know of its boxes, for its counts. */
  readonly flags: Record<string, number> = {}
  private used = false
  private artefacts: Artefacts | null = null
  private waits = 0
  private since = 0
  private waited = 0

  /** `onWait` is told when the attempt begins and ends to wait for room. */
  constructor(door: BoxDoor, onWait: (waiting: boolean) => void = () => {}) {
    this.door = door
    this.onWait = onWait
  }

  waitedMs(): number {
    return this.waited + (this.waits > 0 ? now() - this.since : 0)
  }

  forWorld(): Sandbox {
    return Object.freeze({ start: (options: EnvironmentBoxOptions = {}) => this.start(false, options) })
  }

  /** `wallMs`: budget of the grading. */
  forGraders(wallMs: number): GradingSandbox {
    return Object.freeze({
      artefacts: this.artefacts,
      wallMs,
      start: (options: GradingBoxOptions = {}) => this.start(true, options),
    })
  }

  /** The world has finished: its artefacts are taken and its boxes end. */
  async settle(): Promise<Artefacts | null> {
    if (!this.used) return null
    const { artefacts } = (await this.door.ask({ op: 'settle' })) as Settled
    this.artefacts = artefacts
    this.open.clear()
    const lost = artefacts?.skipped.filter(({ reason }) => !harmless.has(reason)).length ?? 0
    if (lost > 0) this.flags['artefacts_skipped'] = lost
    return artefacts
  }

  /** Stops what a grading left open. */
  async endGrading(): Promise<void> {
    const left = [...this.open]
    this.open.clear()
    await Promise.all(left.map((box) => this.door.ask({ op: 'stop', box }).catch(() => {})))
  }

  private async start(
    grade: boolean,
    options: EnvironmentBoxOptions | GradingBoxOptions,
  ): Promise<GradingBox> {
    this.used = true
    const request = { op: 'start', grade, options: plain(options) } as BoxRequest
    const started = (await this.door.ask(request, { onWait: this.hold() })) as StartedBox
    this.open.add(started.box)
    const { notRestored = 0 } = started
    if (notRestored > 0) this.flags['artefacts_not_restored'] = notRestored
    return boxOf(this.door, started)
  }

  private hold(): (waiting: boolean) => void {
    let mine = false
    return (waiting) => {
      if (waiting === mine) return
      mine = waiting
      if (waiting) {
        if (++this.waits === 1) this.since = now()
      } else if (--this.waits === 0) this.waited += now() - this.since
      this.onWait(waiting)
    }
  }
}

/** A copy without fields that are undefined, which are no fields to whoever checks it. */
function plain<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}

/** A box that is somewhere else. */
export function boxOf(
  door: BoxDoor,
  { box, id, driver, isolation, workdir, talks, artefacts, python }: StartedBox,
): GradingBox {
  const ask = <T>(request: BoxRequest, signal?: AbortSignal): Promise<T> =>
    door.ask(request, signal === undefined ? {} : { signal }) as Promise<T>
  return Object.freeze<GradingBox>({
    id,
    driver,
    isolation,
    workdir,
    exec(command, options: ExecOptions = {}) {
      const { signal, ...rest } = options
      return ask(
        {
          op: 'exec',
          box,
          command: typeof command === 'object' ? [...command] : command,
          options: plain(rest),
        },
        signal,
      )
    },
    ...(artefacts === undefined ? {} : { artefacts }),
    ...(python === undefined
      ? {}
      : {
          ended: ({ signal }: { signal?: AbortSignal } = {}) => ask<ExecResult>({ op: 'ended', box }, signal),
        }),
    ...(talks
      ? {
          talk: (name: string, input?: string | Uint8Array) =>
            ask<Said>({ op: 'talk', box, name, ...(input === undefined ? {} : { input }) }),
        }
      : {}),
    read: (path, { maxBytes } = {}) =>
      ask({ op: 'read', box, path, ...(maxBytes === undefined ? {} : { maxBytes }) }),
    write: (path, data, { mode } = {}) =>
      ask({ op: 'write', box, path, data, ...(mode === undefined ? {} : { mode }) }),
    list: (path) => ask({ op: 'list', box, path }),
    snapshot: (paths, options = {}) =>
      ask({
        op: 'snapshot',
        box,
        ...(paths === undefined ? {} : { paths: [...paths] }),
        options: plain(options),
      }),
    restore: (snapshot, { at } = {}) =>
      ask({ op: 'restore', box, snapshot, ...(at === undefined ? {} : { at }) }),
    stop: () => ask({ op: 'stop', box }),
  })
}
