import { QuintainError, type SandboxDriver } from '../core/index.ts'

/** What asks for CPython in WebAssembly where an interpreter is named (`QUINTAIN_PYTHON`), and the driver of that name. */
export const wasm = 'wasm'

export interface InterpreterDriverOptions {
  /** The run's. */
  driver: SandboxDriver
  /** What whoever runs has named as the interpreter. */
  named: string | undefined
  /** Opens the driver of WebAssembly. */
  openWasm: (() => Promise<SandboxDriver>) | undefined
}

/** Which driver graders' interpreters run in. */
export class InterpreterDriver {
  readonly #options: InterpreterDriverOptions
  #opened: Promise<SandboxDriver | undefined> | undefined

  constructor(options: InterpreterDriverOptions) {
    this.#options = options
  }

  /**
   * The run's, where its boxes have walls; CPython in WebAssembly where they have none, or where that is asked for. Undefined
   * when there is neither. Throws `options_invalid` when it was asked for and is not there.
   */
  async get(): Promise<SandboxDriver | undefined> {
    const { driver, named } = this.#options
    const walls = driver.isolation === 'namespaces' || driver.isolation === 'container'
    if (driver.name === wasm || (walls && named !== wasm)) return driver
    this.#opened ??= this.#open()
    return this.#opened
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined)
    await opened?.close?.()
  }

  async #open(): Promise<SandboxDriver | undefined> {
    const { named, openWasm } = this.#options
    const driver = await openWasm?.()
    const found = await driver?.available()
    if (found?.available === true) return driver
    if (named !== wasm) return undefined
    throw new QuintainError(
      'options_invalid',
      `QUINTAIN_PYTHON asks for Python in WebAssembly, and ${found?.reason ?? 'there is nothing here that starts it'}.`,
    )
  }
}
