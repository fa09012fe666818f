import { availableParallelism } from 'node:os'
import type { GradingSandbox, SandboxDriver } from '../core/index.ts'
import { AttemptBoxes } from './attempt-boxes.ts'
import { BoxDesk } from './box-desk.ts'

const owner = 'graders'

/** Boxes for graders that run outside of a run, over outputs that are there already. */
export interface OpenGradingSandbox {
  sandbox: GradingSandbox
  /** Stops every box, those that are kept ready too. The driver stays open: it is whose that gave it. */
  close(): Promise<void>
}

/**
 * Opens a grading sandbox without a run: graders get fresh boxes of `driver`, with interpreters kept ready as in a run, and
 * no artefacts.
 *
 * `wallMs`: budget of one grading, in milliseconds; 5 minutes when absent. `python`: path of the interpreter that its boxes
 * get, or `wasm`; the variable `QUINTAIN_PYTHON` when absent, else `python3` of the box.
 * `openWasm`: opens CPython in WebAssembly, for boxes without walls and where it is asked for.
 */
export function gradingSandbox(
  driver: SandboxDriver,
  {
    wallMs = 300_000,
    python,
    openWasm,
  }: { wallMs?: number; python?: string; openWasm?: () => Promise<SandboxDriver> } = {},
): OpenGradingSandbox {
  const desk = new BoxDesk()
  const boxes = availableParallelism()
  desk.open({
    driver,
    own: false,
    definition: { boxes },
    // Those in use, and those that are ready.
    most: 8 * boxes,
    network: false,
    ...(python === undefined ? {} : { python }),
    ...(openWasm === undefined ? {} : { openWasm }),
    log() {},
  })
  const window = desk.window()
  const attempt = new AttemptBoxes({ ask: (request, options) => window.ask(owner, request, options) })
  return { sandbox: attempt.forGraders(wallMs), close: () => desk.close() }
}
