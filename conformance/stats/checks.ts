import type { Check } from './check.ts'
import { distributions } from './distribution-checks.ts'
import { missing } from './missing-checks.ts'
import { oneSet } from './one-set-checks.ts'
import { planning } from './planning-checks.ts'
import { twoSets } from './two-set-checks.ts'

/** Every comparison, in the order of the table. */
export const checks: readonly Check[] = [...distributions, ...oneSet, ...twoSets, ...planning, ...missing]
