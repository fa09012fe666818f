import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { publishedManifest } from './pack.ts'

let staged: string
beforeEach(() => {
  staged = mkdtempSync(join(tmpdir(), 'quintain-staged-'))
})
afterEach(() => rmSync(staged, { recursive: true, force: true }))

test('what is published points to built files, may be published, and needs nothing for development', () => {
  writeFileSync(join(staged, 'LICENSE'), '')
  const manifest = {
    name: 'quintain',
    version: '1.2.3',
    private: true,
    type: 'module',
    bin: { quintain: './bin/quintain.js' },
    exports: {
      '.': './src/index.ts',
      './stats': './src/stats/index.ts',
      './schemas/*': './schemas/*',
      './package.json': './package.json',
    },
    scripts: { test: 'x' },
    files: ['dist', 'bin'],
    dependencies: { zod: '1.0.0' },
    devDependencies: { vitest: '1.0.0' },
  }
  expect(publishedManifest(manifest, staged)).toEqual({
    name: 'quintain',
    version: '1.2.3',
    type: 'module',
    bin: { quintain: './bin/quintain.js' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './stats': { types: './dist/stats/index.d.ts', default: './dist/stats/index.js' },
      './schemas/*': './schemas/*',
      './package.json': './package.json',
    },
    files: ['dist', 'LICENSE'],
    dependencies: { zod: '1.0.0' },
  })
})

test('an environment keeps its contract and forgets its source, which is not published', () => {
  const exported = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } }
  const manifest = { name: 'e', exports: exported, quintain: { contract: 1, source: './src/index.ts' } }
  expect(publishedManifest(manifest, staged)).toEqual({
    name: 'e',
    exports: exported,
    quintain: { contract: 1 },
    files: ['dist'],
  })
})
