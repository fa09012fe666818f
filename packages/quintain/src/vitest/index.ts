/**
 * Helpers for tests in Vitest, which must be installed: `testEnvironment(env)`, and the matchers `toReachSuccess` and
 * `toHaveCoverage`, which importing this module registers.
 */
import './matchers.ts'

export { type TestEnvironmentOptions, testEnvironment } from './test-environment.ts'
