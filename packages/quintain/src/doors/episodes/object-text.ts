/** Arguments that a protocol of JSON objects can carry; undefined for those that it cannot. Nothing is no arguments. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** The same for arguments that were looked at before. */
export function objectOf(text: string): Record<string, unknown> {
  return objectIn(text) ?? {}
}
