import type {
  Box,
  BoxFileContent,
  BoxFiles,
  Environment,
  EnvironmentBoxOptions,
  Sandbox,
} from '../core/index.ts'

/** Text that worlds put into their boxes before the agent was done, by task: files and their names, variables, commands and their input. */
export type BoxTexts = Map<string, string[]>

/** The same environment, whose worlds' boxes are watched. What they do in `finish()` no agent sees, and is left out. */
export function watchBoxes<E extends Environment>(env: E): { env: E; texts: BoxTexts } {
  const texts: BoxTexts = new Map()
  const { world } = env.definition
  if (world === undefined) return { env, texts }
  const definition: E['definition'] = {
    ...env.definition,
    async world(task, context) {
      const seen = texts.get(task.id) ?? []
      texts.set(task.id, seen)
      let over = false
      const note = (...parts: string[]) => {
        if (!over) seen.push(...parts)
      }
      const made = await world(task, { ...context, sandbox: watchedSandbox(context.sandbox, note) })
      const finish = made?.finish
      if (typeof finish !== 'function') return made
      const value = () => {
        over = true
        return finish.call(made)
      }
      // The instance itself and no copy, which would have none of its private fields.
      Reflect.defineProperty(made, 'finish', { value, configurable: true, writable: true })
      return made
    },
  }
  return { env: { ...env, definition }, texts }
}

type Note = (...parts: string[]) => void

function watchedSandbox(sandbox: Sandbox, note: Note): Sandbox {
  return {
    async start(options: EnvironmentBoxOptions = {}) {
      const { files = {}, readOnlyFiles = {}, env = {} } = options
      note(...filesText(files), ...filesText(readOnlyFiles), ...Object.values(env))
      return watchedBox(await sandbox.start(options), note)
    },
  }
}

function watchedBox(box: Box, note: Note): Box {
  return {
    ...box,
    exec(command, options) {
      const { env = {}, stdin = '' } = options ?? {}
      note(typeof command === 'string' ? command : command.join(' '), dataText(stdin), ...Object.values(env))
      return box.exec(command, options)
    },
    write(path, data, options) {
      note(path, dataText(data))
      return box.write(path, data, options)
    },
    restore(snapshot, options) {
      for (const entry of snapshot.entries)
        note(entry.path, entry.kind === 'file' ? dataText(entry.data) : '')
      return box.restore(snapshot, options)
    },
  }
}

function filesText(files: BoxFiles): string[] {
  return Object.entries(files).flatMap(([path, content]) => [path, contentText(content)])
}

function contentText(content: BoxFileContent): string {
  if (typeof content === 'string' || content instanceof Uint8Array) return dataText(content)
  return 'link' in content ? content.link : dataText(content.data)
}

function dataText(data: string | Uint8Array): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('utf8')
}
