// A real llama.cpp server as upstream: programs of each protocol through the gateway, tokens from the sampler to training
// rows, streams that are left, histories that do not fit. The server is llama.cpp's own, in the extension that PyPI's
// `xllamacpp` packs; the model is SmolLM2 135M.
//
//   node conformance/llama/llama.ts [WORD…]     only the checks whose names hold a word
import { openGateway } from '../../packages/quintain/src/gateway/open-gateway.ts'
import { installLlama } from './install.ts'
import { replicaChecks } from './replica-checks.ts'
import { startLlama } from './server.ts'
import { servingChecks } from './serving-checks.ts'
import { tokenChecks } from './token-checks.ts'
import { formChecks, translationChecks } from './translation-checks.ts'

const say = (line: string) => process.stdout.write(`llama.cpp: ${line}\n`)
const words = process.argv.slice(2)
const all = [...tokenChecks, ...translationChecks, ...formChecks, ...servingChecks, ...replicaChecks]
const checks = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
if (checks.length === 0) throw new Error(`no check has ${words.join(' or ')} in its name`)
const counts = { passed: 0, failed: 0 }

const seconds = (start: number) => ((performance.now() - start) / 1000).toFixed(1)

async function main(): Promise<number> {
  const began = performance.now()
  const installed = installLlama()
  if ('missing' in installed) {
    say(`skipped: server and model cannot be had: ${installed.missing}`)
    return checks.length
  }
  const server = await startLlama(installed)
  const gateway = await openGateway()
  say(`ready (${seconds(began)} s)`)
  try {
    for (const { name, carryOut } of checks) {
      const start = performance.now()
      try {
        await carryOut({ installed, server, gateway })
        counts.passed++
        say(`${name}: passed (${seconds(start)} s)`)
      } catch (thrown) {
        counts.failed++
        say(`${name}: FAILED (${seconds(start)} s)`)
        say(`  ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`)
      }
    }
  } finally {
    await gateway.close()
    await server.stop()
  }
  return 0
}

const skipped = await main()
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${skipped} skipped\n`)
process.exitCode = counts.failed === 0 ? 0 : 1
