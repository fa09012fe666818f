import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BoxFiles, framedDigest } from 'quintain'
import { z } from 'zod'

/** `tasks/`, which lies beside `src/` and, in the published package, beside `dist/`. */
const folder = fileURLToPath(new URL('../tasks', import.meta.url))

const description = z.strictObject({
  kind: z.enum(['files', 'text', 'archive', 'log', 'script', 'git', 'sqlite', 'service']),
  /** Programs that it needs beside bash, coreutils, findutils, grep, sed, awk, tar, gzip and diffutils. */
  programs: z.array(z.string()),
  /** It can be done where bash is an interpreter in memory: no processes in the background, no programs. */
  inMemory: z.boolean(),
  /** What is kept of the agent's work, relative to the working directory; the tests see nothing else. */
  artefacts: z.array(z.string()).min(1),
})

/** A hidden test: a script whose output says what the agent left, and the output that is right. */
export interface Check {
  /** Its file. As a part of the secret it is taken out of messages, so it is no plain word that may stand in one. */
  name: string
  script: string
  expected: string
}

/** A folder of `tasks/`, read. */
export interface TaskFolder extends z.infer<typeof description> {
  id: string
  instruction: string
  /** What lies in the box from the beginning, and a script that makes the rest before the agent comes. */
  files: BoxFiles
  setup: string | undefined
  checks: Check[]
  solution: string
  /** Of all that the agent finds in the box. */
  filesDigest: string
}

/** What all tests of a task begin with; each of them runs in a box of its own. */
const before = 'before.sh'

let read: readonly TaskFolder[] | undefined

/** All tasks, by id. Read once for a process. */
export function taskFolders(): readonly TaskFolder[] {
  read ??= readdirSync(folder).sort().map(readTask)
  return read
}

/** One task. Throws for an id that is none, which is a mistake of ours. */
export function taskFolder(id: string): TaskFolder {
  const found = taskFolders().find((task) => task.id === id)
  if (found === undefined) throw new Error(`there is no folder tasks/${id}`)
  return found
}

function readTask(id: string): TaskFolder {
  const at = (name: string) => join(folder, id, name)
  const text = (name: string) => readFileSync(at(name), 'utf8')
  const files = existsSync(at('files')) ? filesBelow(at('files')) : {}
  const shared = existsSync(at(`tests/${before}`)) ? text(`tests/${before}`) : ''
  const setup = existsSync(at('setup.sh')) ? text('setup.sh') : undefined
  const content = Object.entries(files).flatMap(([path, { data, mode }]) => [path, String(mode), data])
  return {
    id,
    ...description.parse(JSON.parse(text('task.json'))),
    instruction: text('instruction.md'),
    files,
    setup,
    checks: readdirSync(at('tests'))
      .filter((name) => name.endsWith('.sh') && name !== before)
      .sort()
      .map((name) => ({
        name,
        script: shared + text(`tests/${name}`),
        expected: text(`tests/${name.replace(/sh$/, 'out')}`),
      })),
    solution: text('solution.sh'),
    filesDigest: framedDigest([setup ?? '', ...content]),
  }
}

/** Sorted, so that their digest is the same on every machine. */
function filesBelow(root: string): Record<string, { data: Uint8Array; mode: number }> {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  // Of the permission bits only "may be run" is the same wherever the package is unpacked.
  const modeOf = (path: string) => ((statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755)
  return Object.fromEntries(
    paths.map((path) => [relative(root, path), { data: readFileSync(path), mode: modeOf(path) }]),
  )
}
