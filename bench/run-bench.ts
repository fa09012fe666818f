/** The process of one bench: `node bench/run-bench.ts NAME` prints its figures, or sends them to `main.ts`. */
import { benches } from './benches.ts'
import { reportLines } from './print.ts'

const name = process.argv[2] ?? ''
const load = benches[name]
if (load === undefined) throw new Error(`no bench "${name}"; there are ${Object.keys(benches).join(', ')}`)
const bench = await load()
const result = await bench.run((text) => process.stderr.write(`  ${name}: ${text}\n`))
if (process.send !== undefined)
  process.send({ bench: { title: bench.title, about: bench.about }, result }, () => process.disconnect())
else process.stdout.write(`${reportLines(name, bench, result).join('\n')}\n`)
