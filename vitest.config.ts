import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^fast-check$/,
        replacement: fileURLToPath(new URL('scripts/seeded-fast-check.ts', import.meta.url)),
      },
    ],
  },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'environments/*/src/**/*.test.ts',
      'scripts/**/*.test.ts',
      'docs/**/*.test.ts',
      'conformance/cases/**/*.test.ts',
      'conformance/sandbox/**/*.test.ts',
      'conformance/stats/**/*.test.ts',
      'conformance/tau-bench/**/*.test.ts',
      'conformance/gsm8k/**/*.test.ts',
      'conformance/mcp/**/*.test.ts',
      'conformance/parity/**/*.test.ts',
    ],
    // Vitest leaves a core free by default, which on two cores is half of them.
    maxWorkers: '100%',
    // What hangs is ended; how long things take is for the benches, and machines of CI are three times as slow as others.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
