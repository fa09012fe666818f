/** Options of commands that open an environment and play it, as they were typed; they mean what they do for `eval`. */
export interface EnvironmentFlags {
  tasks?: number
  split?: string
  option?: string[]
  seed?: string
  limit?: string[]
  seat?: string[]
  judge?: string[]
  workers?: number
  boxes?: number
  sandbox?: string
  isolation?: 'worker' | 'inline'
  out?: string
}
