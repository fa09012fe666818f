import { QuintainError } from '../core/index.ts'
import type { Operation } from './engine.ts'

/** What an operation gave, kept until the next one. */
interface Answer<Result> {
  run: string
  seq: number
  result: Result
}

type Answers<Results> = { [Kind in keyof Results]?: Answer<Results[Kind]> }

/**
 * The order of the operations of one learner. Each is carried out once, one after the other in the order of their numbers:
 * the last one repeated is answered as it was, since its answer may have been lost on the way, and any other that is not the
 * next is refused. Numbers begin at 1 with each run; a run that begins takes the learner over, and operations of the one
 * before are refused from then on. What failed was not made: it may be tried again under its number.
 *
 * `Results` names the kinds of operation and what each gives.
 *
 * @example const log = new OperationLog<{ optim_step: OptimStepResult }>()
 *          await log.take('optim_step', operation, () => this.version, () => this.step(adam))
 */
export class OperationLog<Results extends object> {
  private run: string | undefined
  private seq = 0
  private readonly over = new Set<string>()
  private answers: Answers<Results> = {}
  private tail: Promise<unknown> = Promise.resolve()

  /**
   * Carries out `work` when its turn comes. Throws `operation_out_of_order`, and `version_mismatch` where the operation wants
   * another number of optimiser steps than `version()` then says; else what `work` throws.
   */
  take<Kind extends keyof Results & string>(
    kind: Kind,
    operation: Operation,
    version: () => number,
    work: () => Results[Kind] | Promise<Results[Kind]>,
  ): Promise<Results[Kind]> {
    const turn = this.tail.then(async () => {
      const repeated = this.answers[kind]
      if (repeated?.run === operation.run && repeated.seq === operation.seq) return repeated.result
      this.admit(kind, operation, version())
      const result = await work()
      if (this.run !== undefined && this.run !== operation.run) this.over.add(this.run)
      this.run = operation.run
      this.seq = operation.seq
      this.answers = {}
      this.answers[kind] = { run: operation.run, seq: operation.seq, result }
      return result
    })
    // A failure is the caller's; the next in line must come all the same.
    this.tail = turn.catch(() => undefined)
    return turn
  }

  private admit(kind: string, { run, seq, version: wanted }: Operation, version: number): void {
    const facts = { kind, run, seq, last: this.seq, owner: this.run }
    if (this.over.has(run)) {
      throw new QuintainError(
        'operation_out_of_order',
        `${kind} ${seq} is of run ${run}, but run ${this.run} has taken this learner over. Stop one of the two trainers, or give each a learner of its own.`,
        { facts },
      )
    }
    const next = run === this.run ? this.seq + 1 : 1
    if (seq !== next) {
      throw new QuintainError(
        'operation_out_of_order',
        `${kind} has number ${seq} where ${next} comes next in run ${run}. Number the operations of a learner 1, 2, 3, … and send each once its number is its turn; only the last may be repeated.`,
        { facts: { ...facts, next } },
      )
    }
    if (wanted !== undefined && wanted !== version) {
      throw new QuintainError(
        'version_mismatch',
        `${kind} ${seq} is for a learner of ${wanted} optimiser steps, and this one has made ${version}. Load the checkpoint that it was meant for, or leave out \`version\`.`,
        { facts: { ...facts, wanted, version } },
      )
    }
  }
}
