import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkRooms } from './check-rooms.ts'
import { rooms } from './rooms.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quintain-rooms-'))
  write(
    'packages/quintain/package.json',
    JSON.stringify({ name: 'quintain', dependencies: { zod: '1', commander: '1' } }),
  )
  write(
    'packages/quintain/src/core/index.ts',
    "import { z } from 'zod'\nimport { readFile } from 'node:fs'\n",
  )
  write('packages/quintain/src/stats/index.ts', 'export const mean = 1\n')
  write(
    'packages/quintain/src/report/index.ts',
    "export * from '../stats/index.ts'\nimport '../core/index.ts'\n",
  )
  write(
    'packages/quintain/src/cli/index.ts',
    "import '../report/index.ts'\nimport '../index.ts'\nimport 'commander'\n",
  )
  write(
    'packages/quintain/src/index.ts',
    "export * from './core/index.ts'\nexport * from './report/index.ts'\n",
  )
  write(
    'environments/game/package.json',
    JSON.stringify({ name: '@q/game', dependencies: { quintain: '1' } }),
  )
  write('environments/game/src/index.ts', "import { environment } from 'quintain'\nimport './words.ts'\n")
  write('environments/game/src/words.ts', '')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
/** Plants a file, and says what is refused as `file:line`. */
function plant(file: string, text: string): string[] {
  write(file, text)
  return checkRooms(root).violations.map((violation) => `${violation.file}:${violation.line}`)
}

test('a tree in order is in order', () => {
  expect(checkRooms(root)).toEqual({ files: 7, violations: [] })
})

describe('an upward import is refused', () => {
  test.each([
    ['an import', "import '../report/index.ts'"],
    ['a type-only import', "import type { A } from '../report/index.ts'"],
    ['a re-export', "export { a } from '../report/index.ts'"],
    ['a dynamic import', "await import('../report/index.ts')"],
    ['a type of an import', "type A = import('../report/index.ts').A"],
    ['by way of the front', "import { summarize } from '../index.ts'"],
    ['by the name of the package', "import { mean } from 'quintain/stats'"],
    ['by the name of its front', "import { mean } from 'quintain'"],
  ])('%s', (_name, line) => {
    expect(plant('packages/quintain/src/core/new.ts', `// first line\n${line}\n`)).toEqual([
      'packages/quintain/src/core/new.ts:2',
    ])
  })

  test('in tests and type tests as well', () => {
    const line = "import '../report/index.ts'\nimport 'vitest'\n"
    expect(plant('packages/quintain/src/core/a.test.ts', line)).toEqual([
      'packages/quintain/src/core/a.test.ts:1',
    ])
    expect(plant('packages/quintain/src/core/b.test-d.ts', line)).toHaveLength(2)
  })

  test('from folders inside a room', () => {
    expect(plant('packages/quintain/src/core/deep/new.ts', "import '../../report/index.ts'\n")).toHaveLength(
      1,
    )
    expect(plant('packages/quintain/src/core/deep/new.ts', "import '../index.ts'\n")).toHaveLength(0)
  })

  test('and the command says so and fails', () => {
    plant('packages/quintain/src/core/new.ts', "import '../report/index.ts'\n")
    const program = join(import.meta.dirname, 'check-rooms.ts')
    const bad = spawnSync(process.execPath, [program, root], { encoding: 'utf8' })
    expect(bad.status).toBe(1)
    expect(bad.stdout).toContain(
      'packages/quintain/src/core/new.ts:1  imports ../report/index.ts: the room "core" may import no other room',
    )
    rmSync(join(root, 'packages/quintain/src/core/new.ts'))
    expect(spawnSync(process.execPath, [program, root]).status).toBe(0)
  })
})

test('a room without a row is refused', () => {
  expect(plant('packages/quintain/src/attic/index.ts', '')).toEqual([
    'packages/quintain/src/attic/index.ts:1',
  ])
})

test('a package of the registry needs a declaration, and a place in the row of the room', () => {
  expect(plant('packages/quintain/src/core/a.ts', "import 'left-pad'\n")).toHaveLength(1)
  expect(plant('packages/quintain/src/core/a.ts', "import 'commander'\n")).toHaveLength(1)
  expect(plant('packages/quintain/src/core/a.ts', "import 'zod/v4'\n")).toHaveLength(0)
  expect(plant('environments/game/src/index.ts', "import 'zod'\n")).toEqual([
    'environments/game/src/index.ts:1',
  ])
})

test('no relative import leaves its package', () => {
  const core = '../../../packages/quintain/src/core/index.ts'
  expect(plant('environments/game/src/a.ts', `import '${core}'\n`)).toEqual(['environments/game/src/a.ts:1'])
  expect(plant('environments/game/src/a.ts', "import '../../other/src/index.ts'\n")).toHaveLength(1)
  expect(plant('environments/game/src/a.ts', "import '../package.json'\n")).toEqual([])
  expect(
    plant('packages/quintain/src/cli/a.ts', "import '../../../../environments/game/src/index.ts'\n"),
  ).toEqual(['packages/quintain/src/cli/a.ts:1'])
})

test('a package never imports an environment', () => {
  write(
    'packages/quintain/package.json',
    JSON.stringify({ name: 'quintain', dependencies: { zod: '1', commander: '1', '@q/game': '1' } }),
  )
  expect(plant('packages/quintain/src/cli/a.ts', "import '@q/game'\n")).toEqual([
    'packages/quintain/src/cli/a.ts:1',
  ])
})

test('rooms that import each other are a cycle, even where the table would let them', () => {
  const found = plant('packages/quintain/src/vitest/index.ts', "import '../cli/index.ts'\n")
  expect(found).toEqual([])
  expect(plant('packages/quintain/src/cli/new.ts', "import '../vitest/index.ts'\n")).toHaveLength(1)
  expect(checkRooms(root).violations[0]?.message).toMatch(/vitest -> cli -> vitest|cli -> vitest -> cli/)
})

test('the table itself has no cycle and names only rooms it has', () => {
  const visit = (room: string, path: string[]): void => {
    expect(path).not.toContain(room)
    expect(Object.keys(rooms)).toContain(room)
    const below = rooms[room]!.rooms
    if (below !== 'all') for (const next of below) visit(next, [...path, room])
  }
  for (const room of Object.keys(rooms)) visit(room, [])
})
