import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface FreshOptions {
  /** Told the process id at once, so that its memory can be watched. */
  onStart?(pid: number): void
  /** Flags of Node, such as `--cpu-prof`. */
  execArgv?: readonly string[]
}

/** Address of a module that lies beside another one and is written, or built, as that one is. */
export function moduleBeside(path: string, module: string): string {
  return new URL(`${path}${extname(module)}`, module).href
}

/**
 * Calls an exported function of a module in a process that has done nothing else: no warm code, no used heap. Arguments
 * and result are JSON.
 */
export function inFreshProcess<Args extends readonly unknown[], Result>(
  module: string,
  run: (...args: Args) => Promise<Result>,
  args: Args,
  options: FreshOptions = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(
      fileURLToPath(moduleBeside('./fresh-process-main', import.meta.url)),
      [module, run.name, JSON.stringify(args)],
      { execArgv: [...(options.execArgv ?? [])] },
    )
    if (child.pid !== undefined) options.onStart?.(child.pid)
    let result: { value: Result } | undefined
    child.on('message', (message) => {
      result = message as { value: Result }
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (result !== undefined && code === 0) resolve(result.value)
      else reject(new Error(`${run.name} of ${module} ended with ${signal ?? `exit code ${code}`}`))
    })
  })
}
