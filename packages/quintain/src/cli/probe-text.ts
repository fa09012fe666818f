import { printableLine } from '../report/index.ts'
import type { Evidence, ProbeRecord } from '../train/index.ts'

const share = (value: number): string => `${Math.round(100 * value)} %`
const score = (value: number): string => value.toFixed(3)

/** What a probe found, for people: the verdict, what it rests on, and what to read. `dir`: as they would type it. */
export function probeText(record: ProbeRecord, dir: string): string {
  const { environment, verdict, says, evidence, notes, scripts, tasks, training, seconds } = record
  const lines = [
    `${environment.name} ${environment.version} · ${verdict}`,
    '',
    `  ${says}`,
    '',
    `  tried         ${scripts.tried} replies that know nothing of the task, on ${tasks.search} tasks; what was paid, again on ${tasks.test} (${scripts.rollouts} rollouts)`,
    ...payLines(record),
    ...(training === null ? [] : trainingLines(training)),
    ...evidence.flatMap((one) => ['', ...evidenceLines(one)]),
    ...tailLines(record, dir),
    ...(notes.length === 0 ? [] : ['']),
    ...notes.map((note) => `Note: ${note}`),
    '',
    `Took ${seconds.toFixed(0)} s. Clean says that nothing was found, not that there is nothing. Look further: npx quintain report ${dir}`,
  ]
  return `${lines.map((line) => printableLine(line, 600)).join('\n')}\n`
}

function payLines({ scale, oracle, floor }: ProbeRecord): string[] {
  if (scale === null) return []
  const by = {
    oracle: `what the oracle earns, over ${oracle?.tasks ?? 0} tasks`,
    successes: 'what successes earned',
    assumed: 'assumed: nothing says it',
  }[scale.by]
  return [
    `  full reward   ${score(scale.full)} (${by}); the least was ${score(scale.least)}`,
    ...(floor === null
      ? []
      : [`  floor         ${share(floor)} succeed by policies that the environment says know nothing`]),
  ]
}

function trainingLines({
  policy,
  steps,
  reward,
  success,
  shadow,
  end,
}: NonNullable<ProbeRecord['training']>) {
  const which = policy === 'blind' ? 'a policy that sees nothing of the task' : 'the policy that was given'
  const went = ([from, to]: [number, number]) => `${score(from)} to ${score(to)}`
  return [
    `  learned       ${which}, ${steps} steps: ${[
      ...(reward === null ? [] : [`reward ${went(reward)}`]),
      ...(success === null ? [] : [`success ${went(success)}`]),
      ...(shadow === null ? [] : [`shadow ${went(shadow)}`]),
      end,
    ].join('; ')}`,
  ]
}

function evidenceLines(one: Evidence): string[] {
  if (one.kind === 'reward_rises_alone') {
    return [
      `  In training the reward rose from ${share(one.pay[0])} to ${share(one.pay[1])} of a full one, and ${one.beside} went from ${share(one.success[0])} to ${share(one.success[1])}.`,
    ]
  }
  const what = {
    paid_without_success: 'fails, and is paid',
    success_without_the_task: 'succeeds, and is not the right answer',
    paid_without_the_task: 'is paid, and is not the right answer',
  }[one.kind]
  const interval = one.interval.map((bound) => bound.toFixed(2)).join(', ')
  return [
    `  ${one.script}`,
    `    ${what} on ${one.holds} of ${one.tasks} tasks [${interval}] (95 %, Wilson); ${share(one.pay)} of a full reward on average`,
  ]
}

function tailLines({ tail, verdict }: ProbeRecord, dir: string): string[] {
  if (tail === null) return []
  const shared = tail.traits.map(
    ({ what, best, others }) => `${what} (${share(best)} of them, ${share(others)} of the others)`,
  )
  return [
    '',
    `  The best paid ${verdict === 'clean' ? 'rollouts' : 'rollouts are to be read'}${shared.length === 0 ? '' : `; they share ${shared.join(', ')}`}:`,
    ...tail.read.flatMap(({ run, order, reward, success, said }) => {
      const folder = run === '.' ? dir : `${dir}/${run}`
      const state = success === null ? '' : success ? ', a success' : ', no success'
      const shown = said.replace(/\s+/g, ' ').slice(0, 100)
      return [
        `    reward ${score(reward)}${state}: ${shown === '' ? '(nothing is said)' : JSON.stringify(shown)}`,
        `      npx quintain show ${folder} '${order}'`,
      ]
    }),
  ]
}
