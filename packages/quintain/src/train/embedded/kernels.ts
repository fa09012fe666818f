import { readFileSync } from 'node:fs'
import {
  compileModule,
  instantiate,
  type SharedMemory,
  type WasmGlobal,
  type WasmModule,
} from './web-assembly.ts'

/** What kernels.c exports. Pointers and counts are numbers; pointers are bytes from the beginning of the memory. */
interface Exports {
  __stack_pointer: WasmGlobal
  parameter_count(shape: number): number
  packed_count(shape: number): number
  work_count(shape: number, tokens: number): number
  slot_count(shape: number): number
  decode_work_count(shape: number, rows: number): number
  pack_weights(shape: number, weights: number, packed: number, part: number): void
  forward(
    shape: number,
    packed: number,
    starts: number,
    sequences: number,
    tokens: number,
    targets: number,
    work: number,
    logprobs: number,
    entropies: number,
  ): void
  backward(
    shape: number,
    weights: number,
    starts: number,
    sequences: number,
    tokens: number,
    targets: number,
    work: number,
    slopes: number,
    gradient: number,
  ): void
  sum_gradients(gradients: number, count: number, from: number, to: number): number
  adamw(
    weights: number,
    m: number,
    v: number,
    gradient: number,
    from: number,
    to: number,
    rate: number,
    beta1: number,
    beta2: number,
    eps: number,
    decay: number,
    clip: number,
    correct1: number,
    correct2: number,
  ): void
  decode(
    shape: number,
    packed: number,
    cache: number,
    count: number,
    slots: number,
    positions: number,
    tokens: number,
    wanted: number,
    work: number,
    logits: number,
    logSumExp: number,
  ): number
  copy_slot(shape: number, cache: number, from: number, to: number, positions: number): void
}

/** The kernels of one thread, over the memory that all threads share. */
export type Kernels = Omit<Exports, '__stack_pointer'>

let compiled: WasmModule | undefined

/** kernels.wasm, compiled once in the process. Threads are given the module, which is then not compiled again. */
export function kernelModule(): WasmModule {
  compiled ??= compileModule(readFileSync(new URL('./kernels.wasm', import.meta.url)))
  return compiled
}

/** Kernels whose stack ends at `stackTop` and grows down from there. No other instance may use it. */
export function openKernels(module: WasmModule, memory: SharedMemory, stackTop: number): Kernels {
  const exports = instantiate(module, memory)
  if (!isKernels(exports)) throw new TypeError('kernels.wasm is of another build than kernels.ts')
  exports.__stack_pointer.value = stackTop
  return exports
}

function isKernels(exports: object): exports is Exports {
  return '__stack_pointer' in exports && 'forward' in exports && 'decode' in exports
}
