import type { Need } from '../../core/index.ts'
import type { ServedEnvironment } from '../session/session.ts'
import type { NemoAgent } from './rows.ts'

export interface RowFile {
  name: string
  /** What NeMo Gym calls it: it knows no test. */
  type: 'train' | 'validation' | 'example'
  agent: NemoAgent
  /** Relative to the folder that is searched, with `/`. */
  path: string
}

/** The configuration of NeMo Gym for an environment: its resources server, and the agents that play it. */
export function configText(
  environment: ServedEnvironment,
  { files, agents }: { files: readonly RowFile[]; agents: readonly NemoAgent[] },
): string {
  const { slug, description, name, version, needs } = environment
  const server = [
    `${slug}:`,
    '  resources_servers:',
    `    ${slug}:`,
    '      entrypoint: app.py',
    `      domain: ${domainOf(needs)}`,
    '      verified: false',
    // A JSON string is one of YAML.
    `      description: ${JSON.stringify(description === '' ? `${name} ${version}` : description)}`,
  ]
  return `${[
    `# ${name} ${version}, written by: quintain export nemo-gym`,
    ...server,
    ...agents.flatMap((agent) => agentLines(slug, agent, files)),
  ].join('\n')}\n`
}

function agentLines(slug: string, agent: NemoAgent, files: readonly RowFile[]): string[] {
  const own = files.filter((file) => file.agent === agent)
  return [
    '',
    `${slug}_${agent}_agent:`,
    '  responses_api_agents:',
    `    ${agent}_agent:`,
    '      entrypoint: app.py',
    '      resources_server:',
    '        type: resources_servers',
    `        name: ${slug}`,
    '      model_server:',
    '        type: responses_api_models',
    '        name: policy_model',
    // Below the limits of the environment the agent would invent an end, and a reward of nothing.
    ...(agent === 'gymnasium' ? ['      max_steps: 1000'] : []),
    '      datasets:',
    ...own.flatMap(({ name, type, path }) => [
      `        - name: ${JSON.stringify(name)}`,
      `          type: ${type}`,
      `          jsonl_fpath: ${JSON.stringify(path)}`,
      // NeMo Gym takes no rows to train on without a word; which licence it is, the environment's package says.
      ...(type === 'example' ? [] : ['          license: TBD']),
    ]),
    '',
    '# nemo-gym 0.7 reaches an agent through an environment server; leave this out before.',
    `${slug}_${agent}_environment_server:`,
    '  environment_servers:',
    '    legacy_agent:',
    '      entrypoint: app.py',
    '      agent_server:',
    '        type: responses_api_agents',
    `        name: ${slug}_${agent}_agent`,
    '      max_concurrent_episodes: null',
    '      queue_timeout_seconds: null',
    '      default_episode_timeout_seconds: 21600',
    '      cleanup_timeout_seconds: 180',
  ]
}

function domainOf(needs: readonly Need[]): 'agent' | 'games' | 'other' {
  if (needs.includes('tools') || needs.includes('sandbox')) return 'agent'
  return needs.includes('turns') ? 'games' : 'other'
}
