import { QuintainError, type SandboxDefinition, type SandboxDriver } from '../core/index.ts'
import type { RunOptions } from './run-options.ts'

/** What the boxes of a run run in. */
export interface OpenedSandbox {
  driver: SandboxDriver
  /** It was opened for this run and is closed with it. */
  own: boolean
}

/**
 * The driver of a run: what was given, or the strongest that is available. Throws `needs_unmet` when the environment
 * cannot run in it, or when it cannot start boxes here.
 */
export async function openSandbox(
  { sandbox: given, openSandbox: open }: Pick<RunOptions, 'sandbox' | 'openSandbox'>,
  { drivers }: SandboxDefinition,
): Promise<OpenedSandbox> {
  const name = typeof given === 'object' ? given.name : given
  if (name !== undefined && drivers !== undefined && !drivers.includes(name)) {
    throw unmet(
      `with these options it runs in ${drivers.join(', ')}, and ${name} is none of them; name one of those with --sandbox, or see whether an option of the environment changes that (--option)`,
      { driver: name, drivers },
    )
  }
  const driver = typeof given === 'object' ? given : await opened(open, name, drivers)
  const found = await driver.available()
  if (!found.available)
    throw unmet(`${driver.name} starts none here: ${found.reason}`, { driver: driver.name })
  return { driver, own: typeof given !== 'object' }
}

async function opened(
  open: RunOptions['openSandbox'],
  name: string | undefined,
  drivers: readonly string[] | undefined,
): Promise<SandboxDriver> {
  if (open === undefined) throw unmet('there is nothing here that starts them', {})
  return open({
    ...(name === undefined ? {} : { name }),
    ...(drivers === undefined ? {} : { drivers }),
  })
}

function unmet(why: string, facts: Record<string, unknown>): QuintainError {
  return new QuintainError('needs_unmet', `This environment needs boxes: ${why}. Nothing was started.`, {
    facts: { need: 'sandbox', ...facts },
  })
}
