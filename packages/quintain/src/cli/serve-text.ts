import { relative } from 'node:path'
import type { DoorFacts, ServerFacts } from '../doors/serve/open-server.ts'
import type { SessionCore } from '../doors/session/index.ts'
import { countText, printableLine } from '../report/index.ts'

/** What is served, as a program reads it: one line. `runs` are the folders in the order of the environments. */
export function readyLine(facts: ServerFacts, runs: readonly string[]): string {
  const environments = facts.environments.map((environment, place) => ({ ...environment, run: runs[place] }))
  return `${JSON.stringify({ event: 'ready', pid: process.pid, ...facts, environments })}\n`
}

/** The same for people: what, where, who may have the address, and what is lost. */
export function banner(facts: ServerFacts, runs: readonly string[], cwd: string): string {
  const lines: string[] = []
  for (const [place, { name, version, digest, splits }] of facts.environments.entries()) {
    lines.push(`${name} ${version}  (${digest.slice(0, 12)})`)
    lines.push(`  tasks  ${splits.map((split) => `${split.name} ${countText(split.tasks)}`).join(', ')}`)
    lines.push(`  run    ${relative(cwd, runs[place] ?? '') || '.'}`)
  }
  for (const door of facts.doors) lines.push('', ...doorLines(door, facts.environments.length))
  lines.push('', `Health, readiness and metrics: ${facts.operations.url}/healthz /readyz /metrics`)
  const hud = hudPort(facts)
  return `${lines.map((line) => printableLine(line, 400)).join('\n')}\n${hud === undefined ? '' : `HUD_SERVE_PORT=${hud}\n`}`
}

function doorLines(door: DoorFacts, environments: number): string[] {
  const shown = door.merges
    ? 'For trainers only: whoever has this address can list tasks, reset and grade. No agent is given it.'
    : 'For trainers; agents reach only the tools that it hands them an address of.'
  return [
    ...door.addresses.map(({ url, environments: there }) => `${door.title}  ${url}  ${there.join(', ')}`),
    `  ${shown}`,
    `  Clients show: ${door.authentication}.${door.token ? '' : ' No token is set: only this machine reaches it.'}`,
    ...lossLines(door, environments),
  ]
}

/** What is lost, once each; of which environments only where it is not lost of all. */
function lossLines({ losses }: DoorFacts, environments: number): string[] {
  const slugsOf = new Map<string, string[]>()
  for (const [slug, lost] of Object.entries(losses))
    for (const loss of lost) slugsOf.set(loss, [...(slugsOf.get(loss) ?? []), slug])
  return [...slugsOf].map(
    ([loss, slugs]) => `  Lost${slugs.length < environments ? ` of ${slugs.join(', ')}` : ''}: ${loss}`,
  )
}

/** The port that HUD's runner looks for among what a server prints. */
function hudPort({ doors }: ServerFacts): string | undefined {
  const url = doors.find(({ door }) => door === 'hud')?.addresses[0]?.url
  return url === undefined ? undefined : new URL(url).port
}

/** What became of the sessions, at the end. */
export function endLines(
  cores: readonly SessionCore[],
  runs: readonly string[],
  { cwd, cut }: { cwd: string; cut: number },
): string[] {
  const lines = cores.map((core, place) => {
    const { created, scored, unscored, failed } = core.stats()
    const faults = Object.values(failed).reduce((sum, count) => sum + count, 0)
    const parts = [
      `${countText(created)} sessions`,
      `${countText(scored)} scored`,
      ...(unscored > 0 ? [`${countText(unscored)} unscored`] : []),
      ...(faults > 0 ? [`${countText(faults)} failed`] : []),
    ]
    const dir = relative(cwd, runs[place] ?? '') || '.'
    return `${core.environment.name}: ${parts.join(', ')}. Look at them: npx quintain report ${dir}`
  })
  if (cut > 0) lines.push(`${countText(cut)} of them were not over when the server ended, and have no score.`)
  return lines.map((line) => printableLine(line, 400))
}
