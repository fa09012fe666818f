import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

/** Tests of programs, folders and machines, and those that mock modules, wait with another clock or measure memory. */
const alone = [
  'docs/**/*.test.ts',
  'scripts/**/*.test.ts',
  'conformance/{cases,gsm8k,mcp,parity,sandbox,stats,tau-bench}/**/*.test.ts',
  'environments/terminal/**/*.test.ts',
  'environments/gsm8k/src/index.test.ts',
  'packages/*/src/*.test.ts',
  'packages/*/src/cli/**/*.test.ts',
  'packages/*/src/sandbox/**/*.test.ts',
  'packages/*/src/harness/**/*.test.ts',
  'packages/*/src/core/{clock,journal,lock}.test.ts',
  'packages/*/src/doors/ors/call-stream.test.ts',
  'packages/*/src/engine/{boxes,clock-jump,cuts,floor,hostile-code,kill,memory,outside,outside-runs,redact,secrets,workers}.test.ts',
  'packages/*/src/gateway/{listen,waiting-clock}.test.ts',
  'packages/*/src/mcp/{mcp-tools,schema-check}.test.ts',
  'packages/*/src/scoring/{extract-growth,suite-run}.test.ts',
  'packages/*/src/train/loop/resume.test.ts',
  'packages/*/src/train/open-policy.test.ts',
  'packages/*/src/vitest/**/*.test.ts',
]

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
    // Vitest leaves a core free by default, which on two cores is half of them.
    maxWorkers: '100%',
    // What hangs is ended; how long things take is for the benches, and machines of CI are three times as slow as others.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'alone', include: alone } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['packages/*/src/**/*.test.ts', 'environments/*/src/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...alone],
          // One process for many files: to start one and load the sources took half of their time.
          isolate: false,
        },
      },
    ],
  },
})
