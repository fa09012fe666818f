import { quintainVersion } from '../../core/version.ts'
import type { CoreStats, SessionCore } from '../session/session.ts'
import {
  type Family,
  type Histogram,
  type HistogramFamily,
  prometheusText,
  type Sample,
} from './prometheus.ts'

/**
 * What a server says of itself to Prometheus. Labels are names of environments and of codes: nothing of a task, a session
 * or a token is in it.
 */
export function metricsText(cores: readonly SessionCore[]): string {
  const states = cores.map((core) => ({
    environment: core.environment.slug,
    stats: core.stats(),
    core,
  }))
  const each = (of: (stats: CoreStats) => number): Sample[] =>
    states.map(({ environment, stats }) => ({ labels: { environment }, value: of(stats) }))
  const byCode = states.flatMap(({ environment, stats }) =>
    Object.entries(stats.refused).map(([code, value]) => ({ labels: { environment, code }, value })),
  )
  const byFault = states.flatMap(({ environment, stats }) =>
    Object.entries(stats.failed).map(([fault, value]) => {
      const [owner = '', code = ''] = fault.split('/')
      return { labels: { environment, owner, code }, value }
    }),
  )
  const families: (Family | HistogramFamily)[] = [
    {
      name: 'quintain_environment_info',
      help: 'Environments that are served.',
      type: 'gauge',
      samples: states.map(({ environment, core: { environment: of } }) => ({
        labels: {
          environment,
          name: of.name,
          version: of.version,
          digest: of.digest,
          quintain: quintainVersion,
        },
        value: 1,
      })),
    },
    gauge(
      'sessions_open',
      'Sessions whose world is held.',
      each(({ open }) => open),
    ),
    gauge(
      'sessions_capacity',
      'Sessions that may be open at a time.',
      each(({ most }) => most),
    ),
    gauge(
      'draining',
      'Whether no more sessions are taken.',
      each(({ draining }) => Number(draining)),
    ),
    counter(
      'sessions_created',
      'Sessions that were created.',
      each(({ created }) => created),
    ),
    counter(
      'episodes_scored',
      'Episodes that ended with a reward.',
      each(({ scored }) => scored),
    ),
    counter(
      'episodes_unscored',
      'Episodes that have no reward, by nobody’s fault.',
      each(({ unscored }) => unscored),
    ),
    counter('episodes_failed', 'Episodes that ended in a fault, by its owner and code.', byFault),
    counter('requests_refused', 'Sessions and steps that were refused.', byCode),
    {
      name: 'quintain_step_seconds',
      help: 'How long steps took that were carried out.',
      type: 'histogram',
      samples: states.map(({ environment, stats }) => stepTimes(environment, stats)),
    },
  ]
  return prometheusText(families)
}

/** Steps by how long they took: cumulated, as Prometheus wants them, and in seconds. */
function stepTimes(environment: string, { steps }: CoreStats): Histogram {
  let below = 0
  return {
    labels: { environment },
    buckets: steps.buckets.map(({ ms, count }) => {
      below += count
      return { most: ms / 1_000, count: below }
    }),
    count: steps.count,
    sum: steps.totalMs / 1_000,
  }
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `quintain_${name}`, help, type: 'gauge', samples }
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `quintain_${name}_total`, help, type: 'counter', samples }
}
