/*
 * Paths and headers of a NeMo Gym resources server, as of nemo-gym 0.7.0 (`nemo_gym/base_resources_server.py`,
 * `nemo_gym/server_utils.py`, `resources_servers/gymnasium/base.py`).
 */

/** Header by which MCP clients show which session they are of. */
export const tokenHeader = 'X-NeMo-Gym-Session-Token'

/**
 * A client that would read the 0.0 of a masked sample as a reward asks with `error` in this header for a failed request
 * instead. The `nemo_gym` taskset of verifiers is one: it knows no mask, and drops a rollout whose verification fails.
 */
export const unscoredHeader = 'x-quintain-unscored'

/** Answered without a credential: NeMo Gym asks there whether a server is up. */
export const livenessPaths: ReadonlySet<string> = new Set(['/', '/health', '/healthz', '/livez', '/readyz'])

/** Where tools are called by MCP; the session's token is the credential there. */
export const mcpPath = '/mcp'

/** Names that no tool may have, since tools are called at `POST /NAME`. */
export const reservedTools: ReadonlySet<string> = new Set([
  'aggregate_metrics',
  'close',
  'close_session',
  'docs',
  'health',
  'healthz',
  'livez',
  'mcp',
  'readyz',
  'redoc',
  'reset',
  'reverify_mode',
  'run',
  'seed_session',
  'step',
  'v1',
  'verify',
])

/** A path without the prefix by which NeMo Gym says which rollout a request is of. */
export function withoutRollout(path: string): string {
  return /^\/ng-rollout\/[A-Za-z0-9][A-Za-z0-9._-]*(\/.*)$/.exec(path)?.[1] ?? path
}
