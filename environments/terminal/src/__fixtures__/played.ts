import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AttemptRecord,
  environment,
  evaluate,
  foldRun,
  type PrivateRecord,
  readPrivate,
  type SandboxDriver,
  type Script,
} from 'quintain'
import terminal from '../index.ts'

const folder = new URL('../../tasks/', import.meta.url)

/** Scripts of a task's folder that its tests must refuse (`wrong`) or take (`right`), by name. */
export function variants(kind: 'wrong' | 'right', task: string): { name: string; script: string }[] {
  const at = new URL(`${task}/${kind}/`, folder)
  if (!existsSync(at)) return []
  return readdirSync(at)
    .sort()
    .map((name) => ({ name, script: readFileSync(new URL(name, at), 'utf8') }))
}

/** The environment with policies beside its own: `wrong-1` runs the first script of a task's `wrong/`, and so on. */
export const withVariants = environment({
  ...terminal.definition,
  policies: {
    ...terminal.definition.policies,
    ...Object.fromEntries(
      (['wrong', 'right'] as const).flatMap((kind) =>
        [0, 1, 2, 3].map((at) => [
          `${kind}-${at + 1}`,
          function* ({ task }: { task: { id: string } }): Script {
            const variant = variants(kind, task.id)[at]
            if (variant === undefined) throw new Error(`${task.id} has no ${kind}-${at + 1}`)
            yield { tool: 'bash', arguments: { command: variant.script, timeout: 60 } }
          },
        ]),
      ),
    ),
  },
})

/** One attempt: its score, and what is kept of it. */
export interface Played {
  task: string
  /** Null where it ended in a fault. */
  success: boolean | null
  fault: string | undefined
  private: PrivateRecord | undefined
}

/** Plays a policy on tasks and says how each went. `look` reads the run's folder before it is removed. */
export async function played(
  policy: string,
  driver: SandboxDriver,
  {
    tasks,
    options,
    look,
  }: { tasks?: string[]; options?: object; look?: (dir: string) => Promise<void> } = {},
): Promise<Played[]> {
  const dir = await mkdtemp(join(tmpdir(), 'quintain-terminal-'))
  try {
    const run = await evaluate(withVariants, {
      policy: `script:${policy}`,
      sandbox: driver,
      dir: join(dir, 'run'),
      concurrency: 6,
      ...(tasks === undefined ? {} : { tasks }),
      ...(options === undefined ? {} : { options: { ...options } }),
    })
    const fold = await foldRun<AttemptRecord>(run.dir!)
    const all = fold.states.map(async ({ order, chosen }): Promise<Played> => {
      const fault = chosen?.fault
      return {
        task: order.task,
        success: chosen?.verdict?.success ?? null,
        fault: fault == null ? undefined : `${fault.owner} ${fault.code}: ${fault.message}`,
        private: chosen === undefined ? undefined : await readPrivate(run.dir!, chosen),
      }
    })
    const attempts = await Promise.all(all)
    await look?.(run.dir!)
    return attempts
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
