import { availableParallelism } from 'node:os'
import {
  type Box,
  type BoxLimits,
  type BoxOptions,
  type ExecResult,
  FaultError,
  isThrown,
  messageOf,
  QuintainError,
  type Said,
  type SandboxDefinition,
  type SandboxDriver,
  type Snapshot,
} from '../core/index.ts'
import { ArtefactStore } from './artefact-store.ts'
import { describeArtefacts } from './artefacts.ts'
import {
  type AskOptions,
  type BoxRequest,
  boxRequest,
  fitsSize,
  type Settled,
  type StartedBox,
  type StartOptions,
} from './box-protocol.ts'
import { BoxSlots } from './box-slots.ts'
import { withGateway } from './gateway-relay.ts'
import { type GradingBoxStart, startGradingBox } from './grading-box.ts'
import { type InterpreterInBox, interpreterInBox } from './grading-python.ts'
import { InterpreterDriver, wasm } from './interpreter-driver.ts'
import { SpareBoxes, type WarmBox } from './spare-boxes.ts'
import { kindOfWarmBox, startWarmBox } from './warm-box.ts'

export interface DeskOptions {
  driver: SandboxDriver
  /** The driver is closed with the desk. */
  own: boolean
  definition: SandboxDefinition
  /** Boxes open at once over the whole run; eight for each core when absent. */
  most: number | undefined
  /** The environment may use the network, and so may let a box reach ports of the loopback interface. */
  network: boolean
  /** Opens the run's gateway and gives its socket, where boxes of the world are to reach it. */
  gatewaySocket?: () => Promise<string>
  /**
   * Path of the interpreter that graders' boxes get, or `wasm` for CPython in WebAssembly; the variable `QUINTAIN_PYTHON` of
   * this process when absent.
   */
  python?: string
  /** Opens what runs Python in WebAssembly, for graders where boxes have no walls. */
  openWasm?: () => Promise<SandboxDriver>
  log(text: string): void
}

/**
 * Holds the boxes of a run, in the process that no environment's code runs in. Attempts ask for them by number, each for
 * its own only, and whatever they opened is stopped when they end, however that comes about.
 */
export class BoxDesk {
  /** Where artefacts are kept. */
  readonly store = new ArtefactStore()
  private options: DeskOptions | undefined
  private shared: Shared | undefined
  private readonly owners = new Set<Owner>()
  private readonly ending = new Set<Promise<void>>()

  /** From now on there are boxes. */
  open(options: DeskOptions): void {
    this.options = options
    this.shared = sharedOf(options)
  }

  /** A window of the desk for one process: what it owns, nobody else can name. */
  window(): BoxWindow {
    return new BoxWindow((name) => {
      const { options, shared } = this
      if (options === undefined || shared === undefined) throw noDriver()
      const owner = new Owner(name, options, shared, this.store)
      this.owners.add(owner)
      return {
        owner,
        end: () => {
          this.owners.delete(owner)
          const ended = owner.end()
          this.ending.add(ended)
          return ended.finally(() => this.ending.delete(ended))
        },
      }
    })
  }

  /** Stops every box. Resolves when none is left. */
  async close(): Promise<void> {
    await Promise.all([
      ...[...this.owners].map((owner) => owner.end()),
      ...this.ending,
      this.shared?.spares.close(),
    ])
    await this.shared?.interpreters.close()
    this.owners.clear()
    const { options } = this
    this.options = undefined
    if (options?.own === true) await options.driver.close?.()
  }
}

/** What the attempts of a run have in common. */
interface Shared {
  slots: BoxSlots
  spares: SpareBoxes
  interpreters: InterpreterDriver
  /** What whoever runs has named. */
  named: string | undefined
  /** Looked for when the first box wants it. */
  interpreter: Promise<InterpreterInBox> | undefined
}

function sharedOf({ driver, most, openWasm, python }: DeskOptions): Shared {
  const slots = new BoxSlots(most ?? 8 * availableParallelism())
  const named = python ?? process.env['QUINTAIN_PYTHON']
  const interpreters = new InterpreterDriver({ driver, named, openWasm })
  return { slots, spares: new SpareBoxes(slots), interpreters, named, interpreter: undefined }
}

/** Boxes with interpreters that an attempt has open at once at least, beside its others: each is for a moment. */
const interpretersAtOnce = 2

/** A box with an interpreter that is an attempt's, and what stands behind it. */
interface OwnWarmBox extends WarmBox {
  kind: string
  release(): void
}

interface OpenOwner {
  owner: Owner
  end(): Promise<void>
}

/** The boxes of the attempts of one process. */
export class BoxWindow {
  private readonly open: (name: string) => OpenOwner
  private readonly owners = new Map<string, OpenOwner>()

  constructor(open: (name: string) => OpenOwner) {
    this.open = open
  }

  /** Carries out what an attempt asks. `given` is not believed. Rejects with `FaultError` and `QuintainError`. */
  async ask(name: string, given: unknown, options: AskOptions = {}): Promise<unknown> {
    const parsed = boxRequest.safeParse(given)
    if (!parsed.success) {
      const { path = [], message = '' } = parsed.error.issues[0] ?? {}
      throw new QuintainError(
        'options_invalid',
        `A box was asked for what it cannot do: ${path.join('.')}: ${message}`,
      )
    }
    if (!fitsSize(parsed.data))
      throw new QuintainError('options_invalid', 'More was sent to a box at once than 256 MiB.')
    let owner = this.owners.get(name)
    if (owner === undefined) {
      owner = this.open(name)
      this.owners.set(name, owner)
    }
    return owner.owner.ask(parsed.data, options)
  }

  /** The first box of an attempt's world, once it is up. */
  first(name: string): StartedBox | undefined {
    return this.owners.get(name)?.owner.firstBox
  }

  /** Stops what an attempt opened. */
  async end(name: string): Promise<void> {
    const owner = this.owners.get(name)
    this.owners.delete(name)
    await owner?.end()
  }

  /** Stops everything, when the process is gone. */
  async endAll(): Promise<void> {
    await Promise.all([...this.owners.keys()].map((name) => this.end(name)))
  }
}

/** The boxes of one attempt: the world's first, then, when those are gone, the graders'. */
class Owner {
  private readonly name: string
  private readonly options: DeskOptions
  private readonly shared: Shared
  private readonly store: ArtefactStore
  private readonly over = new AbortController()
  /** Aborted when the world has finished, for boxes that it still waits for. */
  private readonly worldOver = new AbortController()
  private readonly boxes = new Map<number, Box>()
  private readonly warm = new Map<number, OwnWarmBox>()
  private readonly interpreters: BoxSlots
  private readonly starting = new Set<Promise<unknown>>()
  private readonly startingWarm = new Set<Promise<unknown>>()
  private lease: Promise<() => void> | undefined
  private grading = false
  private nextBox = 0
  /** The box whose artefacts are collected. */
  private first: number | undefined
  firstBox: StartedBox | undefined
  private artefacts: Snapshot | undefined
  private ended: Promise<void> | undefined

  constructor(name: string, options: DeskOptions, shared: Shared, store: ArtefactStore) {
    this.store = store
    this.name = name
    this.options = options
    this.shared = shared
    this.interpreters = new BoxSlots(Math.max(interpretersAtOnce, options.definition.boxes ?? 1))
  }

  async ask(request: BoxRequest, options: AskOptions): Promise<unknown> {
    try {
      return await this.carryOut(request, options)
    } catch (thrown) {
      if (this.over.signal.aborted) throw stopped('the attempt is over, and its boxes are stopped')
      if (isThrown(thrown, FaultError) || QuintainError.isInstance(thrown)) throw thrown
      throw new FaultError(
        { owner: 'sandbox', code: 'sandbox_io', message: messageOf(thrown), retryable: true },
        thrown,
      )
    }
  }

  /** Stops everything and gives the room back. May be called often. */
  end(): Promise<void> {
    this.ended ??= this.endNow()
    return this.ended
  }

  private async endNow(): Promise<void> {
    this.over.abort(stopped('the attempt is over, and its boxes are stopped'))
    await Promise.allSettled([...this.starting, ...this.startingWarm])
    await this.stopAll()
    const release = await this.lease?.catch(() => undefined)
    release?.()
  }

  private async stopAll(): Promise<void> {
    const boxes = [...this.boxes.values()]
    this.boxes.clear()
    for (const number of [...this.warm.keys()]) this.leaveWarm(number)
    await Promise.all(
      boxes.map((box) =>
        box.stop().catch((thrown: unknown) => {
          this.options.log(`a box of ${this.name} was not stopped: ${messageOf(thrown)}\n`)
        }),
      ),
    )
  }

  private async carryOut(request: BoxRequest, options: AskOptions): Promise<unknown> {
    if (this.over.signal.aborted) throw stopped('the attempt is over, and its boxes are stopped')
    switch (request.op) {
      case 'start':
        return this.start(request.grade, request.options, options)
      case 'settle':
        return this.settle()
      case 'stop': {
        const box = this.boxes.get(request.box)
        if (box === undefined) return undefined
        // What it holds is still wanted.
        if (request.box === this.first) await this.collect()
        this.boxes.delete(request.box)
        await box.stop()
        this.leaveWarm(request.box)
        return undefined
      }
      case 'ended':
        return this.endOf(request.box, options)
      default:
        return this.use(request, this.boxOf(request.box), options)
    }
  }

  private use(
    request: Exclude<BoxRequest, { op: 'start' | 'settle' | 'stop' | 'ended' }>,
    box: Box,
    { signal }: AskOptions,
  ): Promise<unknown> {
    switch (request.op) {
      case 'exec':
        return box.exec(request.command, { ...request.options, ...(signal === undefined ? {} : { signal }) })
      case 'talk':
        return box.talk?.(request.name, request.input) ?? Promise.resolve(nothingSaid)
      case 'read': {
        const { maxBytes } = request
        return box.read(request.path, maxBytes === undefined ? {} : { maxBytes })
      }
      case 'write': {
        const { mode } = request
        return box.write(request.path, request.data, mode === undefined ? {} : { mode })
      }
      case 'list':
        return box.list(request.path)
      case 'snapshot':
        return box.snapshot(request.paths, request.options)
      case 'restore': {
        const { at } = request
        return box.restore(request.snapshot, at === undefined ? {} : { at })
      }
    }
  }

  private boxOf(number: number): Box {
    const box = this.boxes.get(number)
    if (box === undefined) throw stopped('the box is stopped')
    return box
  }

  private async start(
    grade: boolean,
    given: StartOptions,
    { signal, onWait }: AskOptions,
  ): Promise<StartedBox> {
    if (grade && !this.grading) await this.settle()
    if (!grade && this.grading) throw stopped('the world has finished; its boxes are gone')
    if (given.python !== undefined) {
      if (!grade)
        throw new QuintainError('options_invalid', 'Interpreters (python) are for boxes of graders only.')
      const started = this.startWarm(given, this.over.signal, onWait)
      this.startingWarm.add(started)
      return started.finally(() => this.startingWarm.delete(started))
    }
    // Tests and what they run are apart, in two boxes; the second is for a moment, and waits for nobody.
    const most = Math.max(this.options.definition.boxes ?? 1, grade ? 2 : 1)
    if (this.boxes.size - this.warm.size + this.starting.size >= most) {
      throw new FaultError({
        owner: grade ? 'grader' : 'world',
        code: 'too_many_boxes',
        message: `an attempt may have ${most} ${most === 1 ? 'box' : 'boxes'} open at once; stop one first, or declare more in sandbox.boxes`,
        retryable: false,
      })
    }
    const signals = [this.over.signal, ...(grade ? [] : [this.worldOver.signal]), ...(signal ? [signal] : [])]
    const started = this.startBox(grade, given, AbortSignal.any(signals), onWait)
    this.starting.add(started)
    try {
      return await started
    } finally {
      this.starting.delete(started)
    }
  }

  private async startBox(
    grade: boolean,
    given: StartOptions,
    signal: AbortSignal,
    onWait: AskOptions['onWait'],
  ): Promise<StartedBox> {
    await this.room(signal, onWait)
    const { box, ...how } = await this.driverStart(grade, given, signal)
    if (signal.aborted) {
      await box.stop()
      throw stopped('the attempt is over, and its boxes are stopped')
    }
    const number = this.nextBox++
    this.boxes.set(number, box)
    const { id, driver, isolation, workdir } = box
    const started = { box: number, id, driver, isolation, workdir, talks: box.talk !== undefined, ...how }
    if (!grade) {
      this.first ??= number
      this.firstBox ??= started
    }
    return started
  }

  /** A box with an interpreter: one that was kept ready, or a new one. It waits while the attempt has as many as it may. */
  private async startWarm(
    given: StartOptions,
    signal: AbortSignal,
    onWait: AskOptions['onWait'],
  ): Promise<StartedBox> {
    const { python, artefacts: _, network: __, ...rest } = given
    const kind = kindOfWarmBox(given)
    const driver = await this.shared.interpreters.get()
    // Without walls nothing of it could be believed, and it is not begun.
    if (python === undefined || driver === undefined)
      return this.startBox(true, { ...rest, artefacts: 'none' }, signal, onWait)
    const { spares, named } = this.shared
    this.shared.interpreter ??= interpreterInBox(named, driver)
    const interpreter = await this.shared.interpreter
    const release = await this.interpreters.take(1, signal)
    try {
      await this.room(signal, onWait)
      const start = async (over: AbortSignal) =>
        startWarmBox(driver, this.interpreterOptions(driver, rest, over), { ...python, in: interpreter })
      const warm = (await spares.take(kind, start)) ?? (await start(signal))
      if (signal.aborted) {
        await warm.box.stop()
        throw stopped('the attempt is over, and its boxes are stopped')
      }
      const number = this.nextBox++
      this.boxes.set(number, warm.box)
      this.warm.set(number, { ...warm, kind, release })
      const { id, driver: name, isolation, workdir } = warm.box
      return {
        ...{ box: number, id, driver: name, isolation, workdir },
        ...{ talks: warm.box.talk !== undefined, artefacts: 'none', python: true },
      }
    } catch (thrown) {
      release()
      throw thrown
    }
  }

  /** WebAssembly has no image, whatever boxes of the environment have. */
  private interpreterOptions(driver: SandboxDriver, given: BoxOptions, signal: AbortSignal): BoxOptions {
    const { image, ...options } = this.optionsOf({ ...given, label: 'grader' }, signal)
    return image === undefined || driver.name === wasm ? options : { ...options, image }
  }

  private leaveWarm(number: number): void {
    const warm = this.warm.get(number)
    if (!this.warm.delete(number) || warm === undefined) return
    warm.release()
    this.shared.spares.refill(warm.kind)
  }

  /** How an interpreter ended. */
  private async endOf(number: number, { signal }: AskOptions): Promise<ExecResult> {
    const warm = this.warm.get(number)
    if (warm === undefined) throw stopped('the box is stopped, or no interpreter was started with it')
    if (signal?.aborted) warm.end()
    else signal?.addEventListener('abort', warm.end, { once: true })
    return warm.ended.finally(() => signal?.removeEventListener('abort', warm.end))
  }

  /** Room for all boxes of the attempt, taken with the first and kept to the end. */
  private async room(signal: AbortSignal, onWait: AskOptions['onWait']): Promise<void> {
    const lease = this.lease ?? this.shared.slots.take(this.options.definition.boxes ?? 1, signal, onWait)
    this.lease = lease
    try {
      await lease
    } catch (thrown) {
      // Who gave up waiting may ask again.
      if (this.lease === lease) this.lease = undefined
      throw thrown
    }
  }

  private async driverStart(
    grade: boolean,
    given: StartOptions,
    signal: AbortSignal,
  ): Promise<{ box: Box } & Partial<GradingBoxStart>> {
    const { driver, network, gatewaySocket } = this.options
    const { artefacts = 'read-only', network: wanted, limits, python: _, ...rest } = given
    if (wanted !== undefined && wanted !== 'none' && (grade || !network)) {
      throw new QuintainError(
        'options_invalid',
        grade
          ? 'A grading box has no network.'
          : 'A box reaches ports of the host only where the environment declares permissions: { network: true }.',
      )
    }
    const reached =
      grade || gatewaySocket === undefined ? wanted : await withGateway(driver, wanted, gatewaySocket)
    const options: BoxOptions = {
      ...this.optionsOf({ ...rest, ...(limits === undefined ? {} : { limits }), label: this.name }, signal),
      ...(reached === undefined ? {} : { network: reached }),
    }
    if (!grade) return { box: await driver.start(options) }
    return startGradingBox(driver, options, artefacts === 'none' ? undefined : this.artefacts, artefacts)
  }

  /** With what the environment declares of all its boxes. */
  private optionsOf({ limits, ...rest }: BoxOptions, signal: AbortSignal): BoxOptions {
    const { definition } = this.options
    const allLimits: Partial<BoxLimits> = { ...definition.limits, ...limits }
    return {
      ...rest,
      ...(definition.image === undefined ? {} : { image: definition.image }),
      ...(Object.keys(allLimits).length === 0 ? {} : { limits: allLimits }),
      signal,
    }
  }

  /** What was declared of the world's first box, as it is now. */
  private async collect(): Promise<void> {
    const paths = this.options.definition.artefacts
    if (this.artefacts !== undefined || this.first === undefined || paths === undefined) return
    const box = this.boxes.get(this.first)
    if (box === undefined) return
    // Nothing of the agent's changes it while it is read, nor takes the memory that reading it needs.
    const artefacts = await box.snapshot(paths, { still: true })
    this.artefacts = artefacts
    await this.store.keep(artefacts).catch((thrown: unknown) => {
      this.options.log(`the artefacts of ${this.name} were not kept: ${messageOf(thrown)}\n`)
    })
  }

  private async settle(): Promise<Settled> {
    if (!this.grading) {
      this.worldOver.abort(stopped('the world has finished; its boxes are gone'))
      await Promise.allSettled([...this.starting])
      await this.collect()
      this.grading = true
      await this.stopAll()
    }
    return { artefacts: this.artefacts === undefined ? null : describeArtefacts(this.artefacts) }
  }
}

function stopped(message: string): FaultError {
  return new FaultError({ owner: 'sandbox', code: 'sandbox_stopped', message, retryable: false })
}

/** What a command says that cannot be talked with. */
const nothingSaid: Said = { output: new Uint8Array(), ended: true }

function noDriver(): FaultError {
  return new FaultError({
    owner: 'world',
    code: 'sandbox_undeclared',
    message: 'the environment asks for a box and does not declare that it needs one; add `sandbox: {}` to it',
    retryable: false,
  })
}
