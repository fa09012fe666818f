/** A room of `packages/quintain/src`: which rooms, and which packages of the registry, it may import. */
export interface Room {
  rooms: readonly string[] | 'all'
  packages: readonly string[]
}

/**
 * The table of the design: a room may import what stands in its row and nothing else. Packages are named here too, so
 * that a new one is a decision (see `docs/dependencies.md`) and not an accident.
 */
export const rooms: Record<string, Room> = {
  core: { rooms: [], packages: ['@standard-schema/spec', 'zod'] },
  stats: { rooms: [], packages: [] },
  rows: { rooms: ['core'], packages: [] },
  models: { rooms: ['core'], packages: ['undici', 'zod'] },
  gateway: { rooms: ['core', 'models'], packages: [] },
  sandbox: { rooms: ['core'], packages: ['just-bash', 'pyodide'] },
  mcp: { rooms: ['core'], packages: ['@modelcontextprotocol/client', '@modelcontextprotocol/server', 'zod'] },
  harness: { rooms: ['core', 'models', 'gateway', 'sandbox', 'mcp'], packages: ['zod'] },
  worlds: { rooms: ['core', 'sandbox', 'mcp', 'models'], packages: [] },
  scoring: { rooms: ['core', 'sandbox'], packages: ['@cfworker/json-schema'] },
  judge: { rooms: ['core', 'models', 'scoring', 'stats'], packages: [] },
  engine: { rooms: ['core', 'models', 'gateway', 'harness'], packages: ['@standard-schema/spec', 'zod'] },
  report: { rooms: ['core', 'stats'], packages: [] },
  check: { rooms: ['core', 'engine', 'scoring', 'judge', 'sandbox', 'stats', 'report'], packages: [] },
  doors: { rooms: ['core', 'engine', 'rows', 'scoring', 'mcp'], packages: ['hyparquet-writer', 'ws'] },
  train: { rooms: ['core', 'engine', 'rows', 'models', 'stats', 'report'], packages: ['zod'] },
  optimize: { rooms: ['core', 'engine', 'rows', 'models', 'stats'], packages: [] },
  cli: { rooms: 'all', packages: ['commander', 'zod'] },
  vitest: { rooms: 'all', packages: ['vitest'] },
}

/** `src/index.ts` and what lies beside it: the front of the package. Only rooms that may import all may import it. */
export const front = 'the front'

/** What any test may import beside what its room may. */
export const testPackages = ['vitest', 'fast-check', 'zod', '@standard-schema/spec']

/**
 * Tests obey the table too. These are the exceptions: a file, and the rooms that it may import as well, with the
 * reason beside it.
 */
export const testExceptions: Record<string, readonly string[]> = {}
