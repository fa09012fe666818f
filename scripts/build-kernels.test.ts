import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { buildKernels, builtDigest, clangVersion, sourceDigest } from './build-kernels.ts'

const { version, bytes } = buildKernels()

describe('kernels.wasm', () => {
  it('was built from kernels.c as it is', () => {
    expect(builtDigest(), 'run `node scripts/build-kernels.ts` and commit both').toBe(sourceDigest())
  })

  it.skipIf(version !== clangVersion)('is what clang makes of it, bit for bit', () => {
    const committed = new URL('../packages/quintain/src/train/embedded/kernels.wasm', import.meta.url)
    expect(bytes?.equals(readFileSync(committed))).toBe(true)
  })
})
