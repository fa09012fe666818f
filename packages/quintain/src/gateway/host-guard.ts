/**
 * Whether a request was meant for this machine: a page whose name was made to lead here sends its own name as `Host`
 * and as `Origin` (DNS rebinding). `names` are those by which programs may call this machine beside loopback's.
 */
export function isForeign(
  { host = '', origin }: { host?: string | undefined; origin?: string | undefined },
  names: ReadonlySet<string>,
): boolean {
  if (!isOurs(host, names)) return true
  return origin !== undefined && !isOurs(origin.replace(/^https?:\/\//i, ''), names)
}

function isOurs(host: string, names: ReadonlySet<string>): boolean {
  const name = /^(\[[0-9a-f:]+\]|[^:/]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase()
  return name !== undefined && (loopback.has(name) || names.has(name))
}

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
