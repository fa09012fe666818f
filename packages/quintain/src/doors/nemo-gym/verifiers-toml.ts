/**
 * The configuration by which `eval` of verifiers plays rows with its own taskset `nemo_gym`: `eval @ verifiers.toml`. It has
 * to be a file, since the taskset cannot be named in words before its rows are. Paths are relative to where it is run.
 */
export function verifiersToml({ rows, url }: { rows: string; url: string }): string {
  return `# eval @ verifiers.toml --model MODEL (verifiers 0.3 and later, in this folder)
[env.taskset]
id = "nemo_gym"
dataset = ${JSON.stringify(rows)}

[env.taskset.task]
resources_url = ${JSON.stringify(url)}
# Grading may take longer than a minute; a request that is given up loses the rollout.
request_timeout = 600.0

[env.taskset.task.headers]
# It knows no masked samples: an episode without a number fails instead, and is no zero.
"X-Quintain-Unscored" = "error"

[env.agent.harness]
id = "null"

[env.agent.runtime]
type = "subprocess"
`
}
