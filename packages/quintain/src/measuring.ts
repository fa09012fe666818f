/**
 * What measures, loaded by the first call of it: every environment imports this package, in every worker, and measures
 * nothing.
 */
type Evaluations = typeof import('./evaluate.ts')
type Panels = typeof import('./evaluate-all.ts')

const evaluations = () => import('./evaluate.ts')

/**
 * Runs tasks of an environment and says what came of it. An environment passed as an object runs in this process; one
 * passed as a path or package name runs in isolated workers. An agent of yours runs in this process either way. Silent;
 * cancelled by `signal`.
 *
 * Throws `QuintainError` for everything that can be known before the first rollout. What goes wrong in a rollout is in
 * the result.
 *
 * @example
 * const run = await evaluate(env, { agent, tasks: 30, repeats: 4 })
 * run.success.value // 0.61
 */
export const evaluate: Evaluations['evaluate'] = async (env, options) =>
  (await evaluations()).evaluate(env, options)

/** What `evaluate` would do: tasks, orders, seats, limits, permissions. Nothing is ordered or recorded. */
export const plan: Evaluations['plan'] = async (env, options) => (await evaluations()).plan(env, options)

/** Finishes a run: what is open, and what ended in faults. The same path as a new run. Throws as `evaluate`, and `run_not_found`, `run_locked`, `run_too_new`, `run_mismatch`. */
export const resume: Evaluations['resume'] = async (dir, options) =>
  (await evaluations()).resume(dir, options)

/**
 * Runs several players over the same tasks, in turns, order by order, so that a provider's drift hits all alike, and
 * compares them task by task. The first is what the others are compared with; concurrency and cost cap are for all
 * together. Otherwise as `evaluate`.
 *
 * @example
 * const { comparison } = await evaluateAll(env, { agents: { before, after }, repeats: 4 })
 * comparison?.pairs[0]?.success?.newTasks.interval // [0.02, 0.14]
 */
export const evaluateAll: Panels['evaluateAll'] = async (env, options) =>
  (await import('./evaluate-all.ts')).evaluateAll(env, options)
