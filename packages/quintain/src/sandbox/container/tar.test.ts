import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SnapshotEntry } from '../../core/sandbox.ts'
import { readTar, writeTar } from './tar.ts'

const owner = { uid: 1000, gid: 1000 }
const part = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 90 })
  .filter((text) => !/[/\0\ud800-\udfff]/.test(text) && text !== '.' && text !== '..')
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const mode = fc.integer({ min: 0, max: 0o777 })
const entry: fc.Arbitrary<SnapshotEntry> = fc.oneof(
  fc.record({ kind: fc.constant('file' as const), path, mode, data: fc.uint8Array({ maxLength: 1_500 }) }),
  fc.record({ kind: fc.constant('folder' as const), path, mode }),
  fc.record({ kind: fc.constant('link' as const), path, target: path }),
)

describe('tar', () => {
  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
        expect(readTar(writeTar(entries, owner))).toEqual(entries)
      }),
    )
  })

  it('never takes a cut or changed archive for another', () => {
    const whole = writeTar(
      [{ kind: 'file', path: 'a', mode: 0o644, data: new Uint8Array(700).fill(7) }],
      owner,
    )
    expect(() => readTar(whole.subarray(0, 900))).toThrow(/damaged/)
    const changed = Buffer.from(whole)
    changed[3] = 65
    expect(() => readTar(changed)).toThrow(/damaged/)
    expect(readTar(new Uint8Array(0))).toEqual([])
    expect(readTar(new Uint8Array(2048))).toEqual([])
  })

  const hasTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') ?? false
  it.skipIf(!hasTar)('agrees with GNU tar, both ways, in its three formats', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quintain-tar-'))
    try {
      const long = `${'d'.repeat(80)}/${'e'.repeat(90)}`
      const entries: SnapshotEntry[] = [
        { kind: 'folder', path: 'd'.repeat(80), mode: 0o750 },
        { kind: 'file', path: long, mode: 0o600, data: new Uint8Array(1_000).map((_, index) => index) },
        { kind: 'link', path: 'link', target: `./${long}` },
        { kind: 'file', path: 'né\udcff', mode: 0o644, data: new Uint8Array(0) },
      ]
      const unpacked = spawnSync('tar', ['-x', '-C', folder, '--no-same-owner', '-p'], {
        input: writeTar(entries, owner),
      })
      expect(unpacked.stderr.toString()).toBe('')
      for (const format of ['gnu', 'pax', 'ustar']) {
        const names = format === 'ustar' ? ['d'.repeat(80), 'né\udcff'] : ['d'.repeat(80), 'link', 'né\udcff']
        const packed = spawnSync('sh', [
          '-c',
          `cd ${folder} && tar -c --format=${format} ${format === 'ustar' ? '--exclude=link' : ''} --sort=name *`,
        ])
        expect(packed.status).toBe(0)
        const wanted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
        expect(readTar(packed.stdout).sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
          wanted.filter(({ path: name }) => names.includes(name) || name === long),
        )
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
