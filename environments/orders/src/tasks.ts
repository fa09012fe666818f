import { createRng, type IndexedTasks } from 'quintain'
import { deskSettings } from './desk-settings.ts'
import { generatedSetting } from './generator.ts'
import { type Scenario, scenarioOf } from './scenario.ts'

/** What a task hides: which scene it is. The scene itself is worked out from it wherever it is needed. */
export type Secret = { desk: number } | { generated: number; seed: number }

/** The twenty of the `test` split, and after them as many generated ones as were asked for, of the split `train`. */
export function tasks({
  generated,
  seed,
}: {
  generated: number
  seed: number
}): IndexedTasks<undefined, Secret> {
  return {
    size: deskSettings.length + generated,
    at: (index) => ({
      id: idAt(index, seed),
      split: index < deskSettings.length ? 'test' : 'train',
      secret: secretAt(index, seed),
    }),
  }
}

export function idAt(index: number, seed: number): string {
  const at = index - deskSettings.length
  return at < 0
    ? `desk-${String(index + 1).padStart(2, '0')}`
    : `train-${seed}-${String(at).padStart(5, '0')}`
}

export function secretAt(index: number, seed: number): Secret {
  const at = index - deskSettings.length
  return at < 0 ? { desk: index } : { generated: at, seed }
}

/** World, customer, rewards and oracle of an attempt want the same scene, and so do all attempts of a task. */
const kept = new Map<string, Scenario>()
const mostKept = 1_000

export function scenarioOfTask(secret: Secret): Scenario {
  const key = 'desk' in secret ? `desk/${secret.desk}` : `${secret.seed}/${secret.generated}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const setting =
    'desk' in secret
      ? deskSettings[secret.desk]!
      : generatedSetting(createRng(`orders/${secret.seed}/${secret.generated}`))
  const scenario = scenarioOf(setting)
  if (kept.size >= mostKept) kept.delete(kept.keys().next().value!)
  kept.set(key, scenario)
  return scenario
}
