import { execFile } from 'node:child_process'
import { access, constants, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { type BoxMount, messageOf, QuintainError, type SandboxDriver } from '../core/index.ts'

const run = promisify(execFile)
const answerLimitMs = 20_000

/** An interpreter as graders' boxes see it. */
export interface InterpreterInBox {
  /** Its path or name in the box. */
  program: string
  /** Folders of packages, by their paths in the box. */
  site: readonly string[]
  mounts: readonly BoxMount[]
}

/** The box's own, with what its system brings. */
const systems: InterpreterInBox = { program: 'python3', site: [], mounts: [] }

/** What an interpreter says of itself. The executable is the one that a virtual environment was made from. */
const question = `import json, os, sys, sysconfig
print(json.dumps({
  'executable': os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable),
  'base': os.path.realpath(sys.base_prefix),
  'prefix': os.path.realpath(sys.prefix),
  'site': sorted({os.path.realpath(sysconfig.get_path(name)) for name in ('purelib', 'platlib')}),
}))`

const answer = z.object({
  executable: z.string(),
  base: z.string(),
  prefix: z.string(),
  site: z.array(z.string()),
})

/**
 * The interpreter that graders' boxes get: the one at the path `named`, with its packages, or `python3` of the box. It is seen
 * read-only at a place that tells nothing of this machine. Who runs the platform names it, never a task.
 *
 * Throws `options_invalid` when it does not run, or boxes of this driver could not see it.
 */
export async function interpreterInBox(
  named: string | undefined,
  driver: SandboxDriver,
): Promise<InterpreterInBox> {
  if (named === undefined || named === '') return systems
  if (driver.isolation !== 'namespaces' && driver.isolation !== 'container') return systems
  const found = await ask(named)
  const { base, prefix, executable } = found
  const mounts: BoxMount[] = []
  const place = (path: string): string => {
    for (const { source, target } of mounts)
      if (path === source || path.startsWith(`${source}/`))
        return posix.join(target, path.slice(source.length))
    return path
  }
  // The system's is there anyway, unless the box is of another system.
  if (base !== '/usr' || driver.isolation === 'container')
    mounts.push({ source: base, target: '/python/base' })
  if (prefix !== base) mounts.push({ source: prefix, target: '/python/environment' })
  for (const { source } of mounts) await reachable(source, named)
  return { program: place(executable), site: prefix === base ? [] : found.site.map(place), mounts }
}

async function ask(named: string): Promise<z.infer<typeof answer>> {
  try {
    const { stdout } = await run(named, ['-I', '-c', question], { timeout: answerLimitMs, env: {} })
    return answer.parse(JSON.parse(stdout))
  } catch (thrown) {
    throw refused(named, `it does not run here (${messageOf(thrown).split('\n')[0]})`)
  }
}

/** Boxes are started by a user that nobody is, where we are root: it needs a way to what it mounts. */
async function reachable(folder: string, named: string): Promise<void> {
  if (process.getuid?.() !== 0) return access(folder, constants.R_OK | constants.X_OK)
  for (let at = folder; at !== '/'; at = posix.dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0)
      throw refused(named, `boxes may not read ${at}; put it where every user may read it`)
  }
}

function refused(named: string, why: string): QuintainError {
  return new QuintainError(
    'options_invalid',
    `QUINTAIN_PYTHON names ${named} as the interpreter of graders, and ${why}. Name the python of an environment with the packages that graders import, or unset it for the system's python3.`,
  )
}
