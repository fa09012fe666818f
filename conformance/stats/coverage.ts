// node conformance/stats/coverage.ts [TRIALS]   Tries out what intervals, tests and sample sizes promise on made-up
// evaluations whose truth is known, and prints how often the promise was kept. Seeded: the same every time.
import { intervalScenarios } from './simulation/interval-scenarios.ts'
import { rateOf } from './simulation/scenario.ts'
import { testScenarios } from './simulation/test-scenarios.ts'

const trials = Number(process.argv[2] ?? 2000)
let failed = 0
process.stdout.write(`${trials} trials each.\n\n`)
process.stdout.write(
  '| what | tasks | repeats | counted | promised | seen | allowed |\n|---|--:|--:|---|--:|--:|---|\n',
)
for (const scenario of [...intervalScenarios, ...testScenarios]) {
  const { name, tasks, repeats, counted, nominal, bounds } = scenario
  const { rate } = rateOf(scenario, trials)
  const kept = rate >= bounds[0] && rate <= bounds[1]
  if (!kept) failed++
  const allowed = `${bounds[0]} to ${bounds[1]}${kept ? '' : ' FAILED'}`
  process.stdout.write(
    `| ${[name, tasks, repeats, counted, nominal, rate.toFixed(3), allowed].join(' | ')} |\n`,
  )
}
const count = intervalScenarios.length + testScenarios.length
process.stdout.write(`\n${count - failed} passed, ${failed} failed, 0 skipped\n`)
process.exitCode = failed === 0 ? 0 : 1
