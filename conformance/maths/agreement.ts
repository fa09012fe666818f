// Our verdicts beside those of math-verify, of the MATH scorer and of GSM8K's rules, on gold answers written otherwise and
// made wrong. Every disagreement must have a ruling; a wrong answer that ours takes fails the run.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { mathEqual } from '../../packages/quintain/src/scoring/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { type Pair, pairsOf } from './pairs.ts'
import { rulingOn } from './rulings.ts'

const peers = ['math-verify', 'MATH', 'GSM8K'] as const
type Verdicts = Record<(typeof peers)[number], boolean | null>

const folder = import.meta.dirname
const pairs = pairsOf({ seed: 6, turns: 8 })

const began = performance.now()
const ours = pairs.map(({ gold, answer }) => mathEqual(gold, answer).equal)
const ms = performance.now() - began
const accepted = pairs.filter(({ equal }, at) => !equal && ours[at] === true)
const refused = pairs.filter(({ equal }, at) => equal && ours[at] !== true)
const count = (equal: boolean) => pairs.filter((pair) => pair.equal === equal).length
console.log(`${pairs.length} pairs, ${count(true)} of them equal; ours took ${Math.round(ms)} ms`)
console.log(
  `ours takes ${accepted.length} of ${count(false)} wrong answers and refuses ${refused.length} of ${count(true)} right ones`,
)
for (const { gold, answer, kind } of [...accepted, ...refused].slice(0, 40))
  console.log(`  ${gold}  |  ${answer}  (${kind})`)

let passed = 0
let failed = 0
let skipped = 0
const check = (ok: boolean) => {
  if (ok) passed++
  else failed++
}
check(pairs.length >= 3_000)
check(accepted.length === 0)

const environment = await pythonEnvironment(folder, (text) => console.log(text))
if ('unavailable' in environment) {
  console.log(`the peers are not run: ${environment.unavailable}`)
  skipped += peers.length
} else {
  const theirs = await verdictsOf(environment.interpreter, pairs)
  for (const peer of peers) check(compare(peer, theirs))
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed > 0 ? 1 : 0

/** Prints how a peer and ours agree, and every kind of disagreement with its ruling; false when one has none. */
function compare(peer: keyof Verdicts, theirs: readonly Verdicts[]): boolean {
  const cells = new Map<string, number>()
  const disagreements = new Map<string, { pairs: Pair[]; ruling: string | undefined }>()
  for (const [at, pair] of pairs.entries()) {
    const their = theirs[at]![peer]
    if (peer === 'GSM8K' && their === null) continue
    const [we, they] = [ours[at] === true, their === true]
    const cell = `${pair.equal ? 'right' : 'wrong'}: ours ${we ? 'yes' : 'no'}, ${peer} ${they ? 'yes' : 'no'}`
    cells.set(cell, (cells.get(cell) ?? 0) + 1)
    if (we === they) continue
    const key = `${pair.of}, ${pair.kind}: ours ${we ? 'yes' : 'no'}`
    const known = disagreements.get(key)
    if (known === undefined)
      disagreements.set(key, { pairs: [pair], ruling: rulingOn({ peer, pair, ours: we }) })
    else known.pairs.push(pair)
  }
  console.log(`\n${peer}`)
  for (const [cell, number] of [...cells].sort()) console.log(`  ${String(number).padStart(5)}  ${cell}`)
  let unruled = 0
  for (const [key, { pairs: members, ruling }] of disagreements) {
    if (ruling === undefined) unruled++
    console.log(`  ${members.length} x ${key}: ${ruling ?? 'NO RULING'}`)
    for (const { gold, answer } of members) console.log(`      ${gold}  |  ${answer}`)
  }
  return unruled === 0
}

function verdictsOf(interpreter: string, asked: readonly Pair[]): Promise<Verdicts[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(interpreter, [join(folder, 'peers.py')], { stdio: ['pipe', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.once('error', reject)
    child.once('close', (code) => {
      const lines = out.trim().split('\n')
      if (code !== 0 || lines.length !== asked.length)
        reject(new Error(`the peers ended with ${code} after ${lines.length} of ${asked.length} pairs`))
      else resolve(lines.map((line) => JSON.parse(line) as Verdicts))
    })
    child.stdin.end(asked.map(({ gold, answer }) => `${JSON.stringify([gold, answer])}\n`).join(''))
  })
}
