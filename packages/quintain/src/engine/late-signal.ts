import { abortReason } from './step.ts'

/** An abort signal that is made when somebody first asks for it: most worlds and graders never do, and making one costs. */
export class LateSignal {
  private controller: AbortController | undefined
  private ended = false

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.ended) this.controller.abort(abortReason)
    }
    return this.controller.signal
  }

  /** Aborts the signal, also for those who ask for it later. */
  end(): void {
    this.ended = true
    this.controller?.abort(abortReason)
  }
}
