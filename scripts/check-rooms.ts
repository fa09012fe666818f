// Which room imports which: the table of rooms.ts, enforced. `node scripts/check-rooms.ts [FOLDER]`
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importsOf } from './imports.ts'
import { front, rooms, testExceptions, testPackages } from './rooms.ts'

/** An import that may not be: where, and why. */
export interface Violation {
  file: string
  /** Line, counted from one. */
  line: number
  message: string
}

interface Package {
  /** Folder relative to the root, with `/`. */
  folder: string
  name: string
  declared: ReadonlySet<string>
}

/**
 * Checks every import of the packages and environments under `root`: rooms keep to their rows and form no cycle, no
 * relative import leaves its package, no package imports an environment, and what comes from the registry is
 * declared where it is used.
 */
export function checkRooms(root: string): { files: number; violations: Violation[] } {
  const packages = ['packages', 'environments'].flatMap((kind) => packagesIn(root, kind))
  const environments = new Set(packages.filter(isEnvironment).map(({ name }) => name))
  const violations: Violation[] = []
  const edges = new Map<string, Map<string, Violation>>()
  let files = 0
  for (const owner of packages) {
    for (const path of globSync('**/*.{ts,mts,cts,js,mjs}', {
      cwd: join(root, owner.folder),
      exclude: ['**/node_modules', '**/dist', 'template'],
    }).sort()) {
      files += 1
      const file = [owner.folder, ...path.split(sep)].join('/')
      const checked = checkFile({ root, file, owner, environments })
      violations.push(...checked.violations)
      for (const { from, to, line } of checked.edges) {
        const known = edges.get(from) ?? new Map<string, Violation>()
        edges.set(from, known)
        if (!known.has(to)) known.set(to, { file, line, message: '' })
      }
    }
  }
  violations.push(...cyclesOf(edges))
  return { files, violations }
}

function packagesIn(root: string, kind: string): Package[] {
  const parent = join(root, kind)
  if (!existsSync(parent)) return []
  return readdirSync(parent).flatMap((entry) => {
    const manifest = join(parent, entry, 'package.json')
    if (!existsSync(manifest)) return []
    const fields = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown> & { name: string }
    const declared = ['dependencies', 'peerDependencies', 'optionalDependencies', 'devDependencies'].flatMap(
      (field) => Object.keys(fields[field] ?? {}),
    )
    return [{ folder: `${kind}/${entry}`, name: fields.name, declared: new Set(declared) }]
  })
}

function isEnvironment({ folder }: Package): boolean {
  return folder.startsWith('environments/')
}

interface Edge {
  from: string
  to: string
  line: number
}

function checkFile(context: {
  root: string
  file: string
  owner: Package
  environments: ReadonlySet<string>
}): { violations: Violation[]; edges: Edge[] } {
  const { root, file, owner, environments } = context
  const violations: Violation[] = []
  const edges: Edge[] = []
  // What tests share, and nothing else imports, is as free as they are.
  const isTest = /\.(test|test-d)\.[mc]?[jt]s$|\/__fixtures__\//.test(file)
  const room = roomOf(file)
  const row = room === undefined || room === front ? undefined : rooms[room]
  if (room !== undefined && room !== front && row === undefined) {
    violations.push({ file, line: 1, message: `the room "${room}" has no row in scripts/rooms.ts` })
    return { violations, edges }
  }
  for (const { specifier, line } of importsOf(readFileSync(join(root, file), 'utf8'))) {
    const refuse = (message: string) =>
      violations.push({ file, line, message: `imports ${specifier}: ${message}` })
    if (specifier.startsWith('node:')) continue
    const relativeTarget = specifier.startsWith('.') ? targetOf(root, file, specifier) : undefined
    if (relativeTarget !== undefined && !relativeTarget.startsWith(`${owner.folder}/`)) {
      refuse(`a relative import must not leave its package (${owner.folder})`)
      continue
    }
    const name = packageOf(specifier)
    if (
      relativeTarget === undefined &&
      environments.has(name) &&
      name !== owner.name &&
      !isEnvironment(owner)
    ) {
      refuse('a package must not import an environment')
      continue
    }
    const to = relativeTarget === undefined ? roomNamed(specifier, owner) : roomOf(relativeTarget)
    if (to !== undefined) {
      if (room === undefined || room === front || to === room) continue
      if (row !== undefined && row.rooms !== 'all' && !row.rooms.includes(to)) {
        if (isTest && testExceptions[file]?.includes(to)) continue
        const allowed = row.rooms.length === 0 ? 'no other room' : row.rooms.join(', ')
        refuse(`the room "${room}" may import ${allowed}, and not ${to === front ? to : `"${to}"`}`)
      } else if (!isTest) edges.push({ from: room, to, line })
      continue
    }
    if (relativeTarget !== undefined || name === owner.name) continue
    if (isTest && testPackages.includes(name)) continue
    if (!owner.declared.has(name)) refuse(`${name} is not declared in ${owner.folder}/package.json`)
    else if (row !== undefined && !row.packages.includes(name)) {
      refuse(`the room "${room}" may not import the package ${name} (scripts/rooms.ts)`)
    }
  }
  return { violations, edges }
}

const source = 'packages/quintain/src/'

/** The room in which a file lies, `front` for those of `src` itself, undefined outside of `src`. */
function roomOf(file: string): string | undefined {
  if (!file.startsWith(source)) return undefined
  const [first, ...rest] = file.slice(source.length).split('/')
  return rest.length === 0 ? front : first
}

/** The room that a specifier such as `quintain/stats` names, inside the package itself. */
function roomNamed(specifier: string, owner: Package): string | undefined {
  if (owner.name !== 'quintain') return undefined
  if (specifier === 'quintain') return front
  const room = /^quintain\/([^/]+)$/.exec(specifier)?.[1]
  return room !== undefined && Object.hasOwn(rooms, room) ? room : undefined
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function targetOf(root: string, file: string, specifier: string): string {
  return relative(root, resolve(root, dirname(file), specifier))
    .split(sep)
    .join('/')
}

/** Rooms that import each other, in however many steps; the table should make it impossible. */
function cyclesOf(edges: ReadonlyMap<string, ReadonlyMap<string, Violation>>): Violation[] {
  const found: Violation[] = []
  const done = new Set<string>()
  const visit = (room: string, path: readonly string[]) => {
    const seen = path.indexOf(room)
    if (seen >= 0) {
      const cycle = [...path.slice(seen), room]
      const { file, line } = edges.get(cycle.at(-2)!)!.get(room)!
      found.push({ file, line, message: `rooms import each other in a cycle: ${cycle.join(' -> ')}` })
      return
    }
    if (done.has(room)) return
    for (const next of edges.get(room)?.keys() ?? []) visit(next, [...path, room])
    done.add(room)
  }
  for (const room of edges.keys()) visit(room, [])
  return found
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'))
  const { files, violations } = checkRooms(root)
  for (const { file, line, message } of violations) process.stdout.write(`${file}:${line}  ${message}\n`)
  const count = `${violations.length} ${violations.length === 1 ? 'import that may not be' : 'imports that may not be'}`
  process.stdout.write(`rooms: ${files} files, ${violations.length === 0 ? 'all imports in order' : count}\n`)
  if (violations.length > 0) process.exitCode = 1
}
