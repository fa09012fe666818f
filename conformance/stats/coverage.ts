// node conformance/stats/coverage.ts [TRIALS]   Tries out what intervals, tests and sample sizes promise on made-up
// evaluations whose truth is known, and prints how often the promise was kept. Seeded: the same every time.
import { gateScenarios } from './simulation/gate-scenarios.ts'
import { intervalScenarios } from './simulation/interval-scenarios.ts'
import { rateOf, type Scenario } from './simulation/scenario.ts'
import { testScenarios } from './simulation/test-scenarios.ts'

const trials = Number(process.argv[2] ?? 2000)
const scenarios = [...intervalScenarios, ...testScenarios, ...gateScenarios]
let failed = 0

/** `30x4 0.956`: tasks, repeats, and the rate that was seen. */
function tried(scenario: Scenario): string {
  const { rate } = rateOf(scenario, trials)
  const kept = rate >= scenario.bounds[0] && rate <= scenario.bounds[1]
  if (!kept) failed++
  return `${scenario.tasks}x${scenario.repeats} ${rate.toFixed(3)}${kept ? '' : ' FAILED'}`
}

process.stdout.write(`${trials} evaluations each.\n\n`)
for (const counted of ['covered', 'false alarms', 'found'] as const) {
  const { nominal } = scenarios.find((scenario) => scenario.counted === counted)!
  process.stdout.write(
    `| ${counted}, promised ${nominal} | tasks x repeats, and the rate seen | allowed |\n|---|---|---|\n`,
  )
  const names = new Set(scenarios.filter((one) => one.counted === counted).map(({ name }) => name))
  for (const name of names) {
    const rows = scenarios.filter((one) => one.name === name && one.counted === counted)
    const [low, high] = rows[0]!.bounds
    process.stdout.write(`| ${name} | ${rows.map(tried).join(' · ')} | ${low} to ${high} |\n`)
  }
  process.stdout.write('\n')
}
process.stdout.write(`${scenarios.length - failed} passed, ${failed} failed, 0 skipped\n`)
process.exitCode = failed === 0 ? 0 : 1
