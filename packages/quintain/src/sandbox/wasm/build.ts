import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The installed build of CPython in WebAssembly. */
export interface WasmBuild {
  /** URL of its module. */
  module: string
  folder: string
  version: string
}

/** The optional package `pyodide`, where it is installed. */
export function wasmBuild(): WasmBuild | undefined {
  try {
    const about = createRequire(import.meta.url).resolve('pyodide/package.json')
    const folder = dirname(about)
    const { version } = JSON.parse(readFileSync(about, 'utf8'))
    return { folder, version: String(version), module: pathToFileURL(join(folder, 'pyodide.mjs')).href }
  } catch {
    return undefined
  }
}
