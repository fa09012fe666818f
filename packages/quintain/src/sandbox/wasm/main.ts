// A process of the driver `wasm`: one interpreter, which runs the code that stands in its arguments, once.
import { readSync, writeSync } from 'node:fs'
import { closeNetwork, closeProcess, closePrograms, closeThreads, limitMemory } from './harden.ts'
import { limitFiles } from './limit-files.ts'
import { prelude } from './prelude.ts'
import { endWithStarter } from './watch-starter.ts'

const mib = 2 ** 20
const [, , build = '', memoryMb = '', diskMb = '', variables = '{}', code = '', ...words] = process.argv
const { exit } = process

endWithStarter()
closeThreads()
closeNetwork()
closeProcess()
closePrograms()
limitMemory(Number(memoryMb) * mib)

const { loadPyodide }: typeof import('pyodide') = await import(build)
const python = await loadPyodide({
  // Of the machine it sees nothing: no global of JavaScript, no variable.
  jsglobals: Object.create(null),
  env: { ...JSON.parse(variables), _: 'python3' },
})
python.setStdin({ read: (into) => readSync(0, into, 0, into.length, null), isatty: false })
python.setStdout({ write: (bytes) => writeSync(1, bytes), isatty: false })
python.setStderr({ write: (bytes) => writeSync(2, bytes), isatty: false })
limitFiles(python.FS, Number(diskMb) * mib)

try {
  const run = python.runPython
  run(prelude)
  run(`import sys; sys.argv = ${JSON.stringify(['-c', ...words])}`)
  run(code)
  exit(0)
} catch (thrown) {
  // An exit is thrown too.
  const status =
    typeof thrown === 'object' && thrown !== null && 'status' in thrown ? thrown.status : undefined
  if (typeof status !== 'number') writeSync(2, `${String(thrown)}\n`)
  exit(typeof status === 'number' ? status : 1)
}
