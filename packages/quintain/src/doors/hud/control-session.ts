import { randomBytes } from 'node:crypto'
import type { Mount, ToolServer } from '../../mcp/index.ts'
import type { Opening, Session, SessionCore, Settled, TaskChoice } from '../session/session.ts'
import { RpcError, rpc } from './frames.ts'
import { type GradeResult, gradeOf } from './grade.ts'
import { mountTools } from './session-tools.ts'
import { givenUp, type WaitingLine } from './waiting-line.ts'

export interface ControlSessionOptions {
  core: SessionCore
  tools: ToolServer
  line: WaitingLine
}

/** What a client began with `hello`: at most one task at a time, and an address for its tools. It outlives a connection. */
export class ControlSession {
  /** Whoever has it holds the session. */
  readonly id = `sess-${randomBytes(18).toString('base64url')}`
  /** Who speaks for it. */
  holder: object | undefined
  /** Its client has not hung up: it waits for what it asked. */
  attended = true
  /** When its verdict was told. */
  answeredAt: number | undefined
  private readonly options: ControlSessionOptions
  private task: Session | undefined
  private grading: Promise<Settled> | undefined
  private mounted: Mount | undefined
  /** Grows with each start and each cancel, so that a start which was overtaken knows it. */
  private generation = 0
  private starting = false

  constructor(options: ControlSessionOptions, holder: object) {
    this.options = options
    this.holder = holder
  }

  /** Its tools; they are those of its task, whichever it is at the time. */
  get mount(): Mount {
    this.mounted ??= mountTools(this.options.tools, () => this.task)
    return this.mounted
  }

  /** A client is there and speaks for it. */
  get isLive(): boolean {
    return this.holder !== undefined && this.attended
  }

  /** A task was left here without a grade. */
  get isParked(): boolean {
    return !this.isLive && this.task !== undefined && this.answeredAt === undefined && !this.isLost
  }

  /** Its task is gone without a grade: it expired, or the server ended it. */
  get isLost(): boolean {
    return this.task?.state === 'closed' && this.answeredAt === undefined
  }

  /** It has a task, or one begins; its client may come back to it. */
  get hasTask(): boolean {
    return this.task !== undefined || this.starting
  }

  touch(): void {
    this.task?.touch()
  }

  /** Gives up the task before, if there is one, and begins another. */
  async start(choice: TaskChoice): Promise<Opening> {
    const mine = await this.leaveTask()
    const overtaken = () => mine !== this.generation
    const { core, line } = this.options
    this.starting = true
    try {
      const session = await line.enter(
        () => !overtaken() && this.attended,
        () => core.create({ task: choice, answerTool: core.environment.needs.includes('turns') }),
      )
      if (overtaken()) {
        await session.close()
        throw givenUp()
      }
      this.task = session
      this.mounted?.toolsChanged()
      return await this.opened(session, overtaken)
    } finally {
      if (!overtaken()) this.starting = false
    }
  }

  /** The verdict of its task; the same when it is asked again. Throws `RpcError` where there is none. */
  async grade(answer: string | undefined): Promise<GradeResult> {
    const { task } = this
    if (task === undefined) throw noTask()
    this.grading ??= task.grade(answer === undefined ? {} : { answer })
    return gradeOf(await this.grading, this.options.core.environment)
  }

  /** Its verdict was sent. */
  answered(): void {
    this.answeredAt ??= performance.now()
  }

  async cancel(): Promise<void> {
    await this.leaveTask()
  }

  /** Forgets it, with its tools. */
  async end(): Promise<void> {
    await this.leaveTask()
    await this.mounted?.close()
  }

  private async opened(session: Session, overtaken: () => boolean): Promise<Opening> {
    try {
      return await session.opened()
    } catch (thrown) {
      if (!overtaken()) {
        this.task = undefined
        await session.close()
      }
      throw thrown
    }
  }

  private async leaveTask(): Promise<number> {
    const { task } = this
    const mine = ++this.generation
    this.task = undefined
    this.grading = undefined
    this.starting = false
    this.answeredAt = undefined
    await task?.close()
    return mine
  }
}

/** The words are HUD's own: its command line takes them for leave to begin a task itself. */
export function noTask(): RpcError {
  return new RpcError(rpc.invalid, 'no task in progress')
}
