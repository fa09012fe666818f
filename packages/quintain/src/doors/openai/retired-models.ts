/**
 * Models that graders name and that are listed to shut down, with the day. Source: secondary lists of the vendor's
 * deprecations that agree with each other, read on 2026-11-29; the vendor's own page was not readable then.
 */
const listed: readonly (readonly [pattern: RegExp, day: string])[] = [
  [/^o4-mini(-2025-04-16)?$/, '2026-10-23'],
  [/^o3-mini(-2025-01-31)?$/, '2026-10-23'],
  [/^o1(-2024-12-17)?$/, '2026-10-23'],
  [/^gpt-4\.1-nano(-\d{4}-\d{2}-\d{2})?$/, '2026-10-23'],
  [/^gpt-3\.5-turbo(-.*)?$/, '2026-10-23'],
  [/^gpt-5(-mini|-nano|-pro)?(-2025-\d{2}-\d{2})?$/, '2026-12-11'],
  [/^o3(-2025-04-16)?$/, '2026-12-11'],
  [/^gpt-4o(-mini)?(-\d{4}-\d{2}-\d{2})?$/, '2027-01-14'],
  [/^gpt-4\.1(-mini)?(-\d{4}-\d{2}-\d{2})?$/, '2027-01-14'],
]

/** The day on which a model is listed to shut down, if it is; a fine-tune follows its base. */
export function listedShutdown(model: string): string | undefined {
  const base = /^ft:([^:]+):/.exec(model)?.[1] ?? model
  return listed.find(([pattern]) => pattern.test(base))?.[1]
}
