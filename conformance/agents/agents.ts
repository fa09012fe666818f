// The agents that `quintain init --agent` makes, as a user has them: installed from npm and PyPI, type-checked, and played
// through the gateway with the oracle in the place of their models. Then what official SDKs make of the gateway's replies.
// `sdks` names that part; `--relock` resolves what is installed anew.
//
//   node conformance/agents/agents.ts [--relock] [NAME…] [sdks]
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bwrapDriver } from '../../packages/quintain/src/sandbox/index.ts'
import { pythonEnvironment } from '../python/environment.ts'
import { examples } from './examples.ts'
import { folderOf, installExamples, workspace } from './install.ts'
import { playExample } from './play-example.ts'
import { sdkChecks } from './sdk-checks.ts'

const counts = { passed: 0, failed: 0, skipped: 0 }
const say = (line: string) => process.stdout.write(`agents: ${line}\n`)

/** Carries a check out, which gives what is wrong. */
async function check(name: string, carryOut: () => Promise<readonly string[]>): Promise<void> {
  const start = performance.now()
  let complaints: readonly string[]
  try {
    complaints = await carryOut()
  } catch (thrown) {
    complaints = [thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)]
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  if (complaints.length === 0) {
    counts.passed += 1
    say(`${name}: passed (${seconds} s)`)
    return
  }
  counts.failed += 1
  say(`${name}: FAILED (${seconds} s)`)
  for (const complaint of complaints) say(`  ${complaint}`)
}

function skip(name: string, reason: string, checks = 1): void {
  counts.skipped += checks
  say(`${name}: skipped: ${reason}`)
}

/** Why an example cannot be played here; undefined when it can. */
async function missingFor(name: string): Promise<string | undefined> {
  if (name === 'coding-agent') {
    const bwrap = await bwrapDriver().available()
    return bwrap.available ? undefined : bwrap.reason
  }
  if (name !== 'python') return undefined
  const environment = await pythonEnvironment(folderOf(name), say)
  return 'unavailable' in environment ? environment.unavailable : undefined
}

/** The types of the examples against those of what they are made with. What is wrong elsewhere is for others to say. */
async function typeCheck(): Promise<string[]> {
  writeFileSync(
    join(workspace, 'tsconfig.json'),
    JSON.stringify({ extends: `./${examples[0]!.name}/tsconfig.json`, include: ['*/*.ts', '*/*.mts'] }),
  )
  const tsc = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', '.'], {
    cwd: workspace,
    encoding: 'utf8',
  })
  const errors = stdout.split('\n').filter((line) => /\berror TS/.test(line))
  // One that failed for anything else has checked nothing.
  if (status !== 0 && errors.length === 0) return [`the compiler ended with ${status}`, stdout, stderr]
  return errors.filter((line) => !line.startsWith('..'))
}

/** The script of a package as a user starts it, with success asked for. */
async function runScript(name: string): Promise<string[]> {
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'eval', '--', '--threshold', '1'], {
    cwd: folderOf(name),
    encoding: 'utf8',
  })
  return status === 0 ? [] : [`npm run eval ended with ${status}`, stdout, stderr]
}

async function main(): Promise<void> {
  const asked = process.argv.slice(2)
  const relock = asked.includes('--relock')
  const names = asked.filter((one) => !one.startsWith('--'))
  for (const name of names)
    if (name !== 'sdks' && !examples.some((one) => one.name === name)) throw new Error(`no agent is ${name}`)
  const chosen = names.length === 0 ? examples : examples.filter(({ name }) => names.includes(name))
  const start = performance.now()
  const { missing } = await installExamples({ relock })
  if (missing !== undefined)
    return skip(
      'everything',
      missing,
      chosen.reduce((all, { streams }) => all + (streams ? 3 : 2), 0),
    )
  say(`installed (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  await check('types', typeCheck)
  for (const example of chosen) {
    const { name, streams } = example
    const without = await missingFor(name)
    if (without !== undefined) {
      skip(name, without, streams ? 2 : 1)
      continue
    }
    await check(`${name}, ${example.tasks} tasks`, () => playExample(example, false))
    if (streams) await check(`${name}, ${example.tasks} tasks, streamed`, () => playExample(example, true))
  }
  // What differs between the scripts is the environment alone.
  for (const name of ['openai-responses', 'own-tools'])
    if (chosen.some((one) => one.name === name)) await check(`npm run eval of ${name}`, () => runScript(name))
  if (names.length === 0 || names.includes('sdks'))
    for (const { name, carryOut } of await sdkChecks()) await check(name, carryOut)
}

await main()
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
if (counts.failed > 0) process.exitCode = 1
