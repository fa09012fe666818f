import type { Availability, Box, BoxOptions, SandboxDriver } from '../../core/sandbox.ts'
import { planBox, refuseOption } from '../box-options.ts'
import { sandboxFault } from '../sandbox-fault.ts'
import { WasmBox } from './box.ts'
import { wasmBuild } from './build.ts'

/**
 * CPython in WebAssembly, by the optional package `pyodide`: the standard library, without packages, processes, threads and
 * network. For Python graders on machines that have nothing which starts boxes. Each interpreter is a process of Node's that
 * may read the folder of that package and nothing else, and sees no file of the machine.
 */
export function wasmDriver(): SandboxDriver {
  return new WasmDriver()
}

class WasmDriver implements SandboxDriver {
  readonly name = 'wasm'
  readonly isolation = 'memory'
  readonly #boxes = new Set<Box>()
  readonly #build = wasmBuild()
  #started = 0

  async available(): Promise<Availability> {
    if (this.#build !== undefined) return { available: true }
    return { available: false, reason: 'the package pyodide is not installed (npm install pyodide)' }
  }

  async start(options: BoxOptions = {}): Promise<Box> {
    const plan = planBox(options)
    if (plan.image !== undefined) refuseOption('wasm', 'image', 'has no system of its own; leave it out')
    if (plan.mounts.length > 0) refuseOption('wasm', 'mounts', 'sees no file of the host')
    if (plan.sockets.length > 0) refuseOption('wasm', 'network', 'has no sockets; use bwrap or a container')
    if (plan.files.length + plan.readOnlyFiles.length > 0)
      refuseOption('wasm', 'files', 'holds none; use bwrap or a container')
    if (this.#build === undefined)
      throw sandboxFault('sandbox_start_failed', 'the package pyodide is not installed (npm install pyodide)')
    options.signal?.throwIfAborted()
    this.#started += 1
    const box = new WasmBox({ id: `wasm-${process.pid}-${this.#started}`, plan, build: this.#build })
    this.#boxes.add(box)
    const stop = box.stop.bind(box)
    box.stop = async () => {
      this.#boxes.delete(box)
      await stop()
    }
    return box
  }

  async close(): Promise<void> {
    await Promise.all([...this.#boxes].map((box) => box.stop()))
  }
}
