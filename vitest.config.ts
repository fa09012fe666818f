import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'environments/*/src/**/*.test.ts',
      'scripts/**/*.test.ts',
      'docs/**/*.test.ts',
      'conformance/cases/**/*.test.ts',
      'conformance/tau-bench/**/*.test.ts',
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
