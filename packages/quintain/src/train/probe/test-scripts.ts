import { evidenceOf } from './evidence.ts'
import type { Calibration } from './oracle.ts'
import { type PayScale, payScale } from './pay.ts'
import { type Played, saidIn } from './played.ts'
import type { ScriptEvidence } from './probe-record.ts'
import type { ProbeTasks } from './probe-tasks.ts'
import type { Prober } from './prober.ts'
import { repeating, type Script, shown } from './script.ts'
import { shorten } from './shorten.ts'
import { promise, type Standing, standings } from './standing.ts'

const mostTested = 8
const mostOfFamily = 3
const mostLearned = 8
const mostShortened = 3
const tasksToShorten = 2
/** Scripts that promise less are not tested. */
const leastPromise = 0.1

/**
 * Tries those scripts that promise something, and what a policy learned to say, on tasks that they were not found on. What
 * pays best is first shortened to what it is paid for.
 */
export async function testScripts(
  prober: Prober,
  { search, test }: ProbeTasks,
  {
    found,
    learned,
    calibration,
  }: { found: readonly Standing[]; learned: readonly Played[]; calibration: Calibration },
): Promise<{ evidence: ScriptEvidence[]; scale: PayScale }> {
  const scale = () => payScale(prober.tries, [...calibration.oracle.values()])!
  const stand = (tries: Standing['tries']) => standings(tries, scale(), calibration)
  const said = learned
    .slice(0, mostLearned)
    .map(({ acts, order }) =>
      repeating('learned', `what was learned, as in ${order}: ${shown(saidIn(acts))}`, acts),
    )
  const learnedStandings = said.length === 0 ? [] : stand(await prober.play(said, search))
  const promising = chosen([...found, ...learnedStandings])
  const shorter: Script[] = []
  for (const standing of promising.slice(0, mostShortened)) {
    const script = await shorten(standing, { prober, tasks: search.slice(0, tasksToShorten), stand })
    if (script !== standing.script && !shorter.some(({ text }) => text === script.text)) shorter.push(script)
  }
  const scripts = [...shorter, ...promising.map(({ script }) => script)]
  const tries = await prober.play(scripts, test)
  const final = scale()
  const evidence = scripts.flatMap((script) => {
    const own = tries.filter((one) => one.script === script)
    return evidenceOf(own, { scale: final, calibration }) ?? []
  })
  return { evidence, scale: final }
}

/** The most promising, not all of one family, those that pay most first. */
function chosen(standings: readonly Standing[]): Standing[] {
  const byPromise = [...standings].sort((a, b) => promise(b) - promise(a))
  const counts = new Map<string, number>()
  return byPromise
    .filter((standing) => {
      const { family } = standing.script
      const count = counts.get(family) ?? 0
      counts.set(family, count + 1)
      return count < mostOfFamily && promise(standing) >= leastPromise
    })
    .slice(0, mostTested)
}
