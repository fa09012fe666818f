import { didYouMean, QuintainError, type SandboxDriver } from './core/index.ts'
import type { OpenSandbox } from './engine/index.ts'

/** Made when they are asked for: an environment without boxes loads none of this. */
const drivers: Readonly<Record<string, () => Promise<SandboxDriver>>> = {
  bwrap: async () => (await import('./sandbox/index.ts')).bwrapDriver(),
  docker: async () => (await import('./sandbox/index.ts')).dockerDriver(),
  podman: async () => (await import('./sandbox/index.ts')).podmanDriver(),
  bash: async () => (await import('./sandbox/index.ts')).bashDriver(),
  wasm: async () => (await import('./sandbox/index.ts')).wasmDriver(),
  process: async () => (await import('./sandbox/index.ts')).processDriver(),
}

/** Drivers that keep in what runs in them, the lightest first. The others are used only when they are named. */
const strong = ['bwrap', 'docker', 'podman']

/** Of those that keep something in, the last: it runs Python and nothing else, so that it is used only where it is listed. */
const pythonOnly = 'wasm'

/** For what needs boxes only to run Python graders in. */
export const pythonDrivers: readonly string[] = [...strong, pythonOnly]

/** Opens a driver by name, or the first that this machine has of those that keep something in. Throws as `OpenSandbox`. */
export const openSandboxDriver: OpenSandbox = async ({ name, drivers: fitting }) => {
  if (name !== undefined) {
    const make = Object.hasOwn(drivers, name) ? drivers[name] : undefined
    if (make !== undefined) return make()
    const known = Object.keys(drivers)
    throw new QuintainError(
      'usage',
      `There is no sandbox driver "${name}"${didYouMean(name, known)} There are ${known.join(', ')}.`,
      { facts: { driver: name, known } },
    )
  }
  const reasons: string[] = []
  for (const candidate of pythonDrivers) {
    if (!(fitting ?? strong).includes(candidate)) continue
    const driver = await drivers[candidate]!()
    const found = await driver.available()
    if (found.available) return driver
    reasons.push(`${candidate}: ${found.reason}`)
    await driver.close?.()
  }
  const weak =
    fitting?.filter((candidate) => Object.hasOwn(drivers, candidate) && !pythonDrivers.includes(candidate)) ??
    []
  const install = strong.some((candidate) => fitting === undefined || fitting.includes(candidate))
    ? 'Install bubblewrap (Debian, Fedora: package bubblewrap), or name a driver with --sandbox.'
    : `Name the driver that it runs in: ${weak.map((candidate) => `--sandbox ${candidate}`).join(' or ') || '--sandbox'}.`
  throw new QuintainError(
    'needs_unmet',
    `This environment needs boxes, and nothing on this machine starts any that keep something in (${reasons.join('; ') || 'none of its drivers is one that does'}). ${install} Nothing was started.`,
    { facts: { need: 'sandbox', reasons } },
  )
}
