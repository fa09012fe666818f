import type { Bench } from './measurement.ts'

/** Every bench by name, in the order in which they run. */
export const benches: Record<string, () => Promise<Bench>> = {
  rollouts: async () => (await import('./rollouts.ts')).bench,
  verifiers: async () => (await import('./verifiers.ts')).bench,
  wordle: async () => (await import('./wordle.ts')).bench,
  orders: async () => (await import('./orders.ts')).bench,
  'in-flight': async () => (await import('./in-flight.ts')).bench,
  report: async () => (await import('./report.ts')).bench,
  sandbox: async () => (await import('./sandbox.ts')).bench,
  scoring: async () => (await import('./scoring.ts')).bench,
  gateway: async () => (await import('./gateway.ts')).bench,
  doors: async () => (await import('./doors.ts')).bench,
  compare: async () => (await import('./compare.ts')).bench,
  engine: async () => (await import('./engine.ts')).bench,
}
