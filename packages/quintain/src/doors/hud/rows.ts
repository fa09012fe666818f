import type { SessionCore } from '../session/session.ts'

/** A task as HUD's tasksets have it. It names a task of the environment and holds nothing of it. */
export interface HudRow {
  /** Name that the environment gives itself on the channel. */
  env: string
  /** The split: each is a task of HUD, whose arguments choose. */
  id: string
  args: { id: string }
  /** One in a taskset. */
  slug: string
  columns: { split: string }
}

/** Tasks that are listed at a time. */
const page = 500

/** The rows of a split, in its order. Throws `unknown_split`. */
export async function* hudRows(core: SessionCore, split: string): AsyncGenerator<HudRow> {
  const env = core.environment.slug
  for (let from = 0; ; from += page) {
    const tasks = await core.tasks(split, from, from + page)
    for (const { id } of tasks) yield { env, id: split, args: { id }, slug: id, columns: { split } }
    if (tasks.length < page) return
  }
}
