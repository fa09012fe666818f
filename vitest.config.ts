import { defineConfig } from 'vitest/config'

export default defineConfig({
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
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
