/**
 * As much of WebAssembly as the engine uses. The types of Node have none of it, and those of browsers would bring the rest of
 * the browser along.
 */
declare const WebAssembly: {
  Memory: new (options: { initial: number; maximum: number; shared: true }) => SharedMemory
  Module: new (bytes: Uint8Array) => WasmModule
  Instance: new (module: WasmModule, imports: { env: { memory: SharedMemory } }) => { exports: object }
}

/** Memory that several instances share. It grows by pages of 64 KiB, and views of it stay good. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer
  grow(pages: number): number
}

/** Compiled code, which threads are sent as it is. */
export type WasmModule = object

/** A global of an instance. */
export interface WasmGlobal {
  value: number
}

export function newSharedMemory(options: { initial: number; maximum: number }): SharedMemory {
  return new WebAssembly.Memory({ ...options, shared: true })
}

export function compileModule(bytes: Uint8Array): WasmModule {
  return new WebAssembly.Module(bytes)
}

/** What the instance exports. */
export function instantiate(module: WasmModule, memory: SharedMemory): object {
  return new WebAssembly.Instance(module, { env: { memory } }).exports
}
