/**
 * The names under which a door shows the tools of a recording. Doors rename what their clients could not call, and keep the
 * order; the tool by which a client speaks comes last, and is none of the recording's.
 */
export function shownNames(
  recorded: readonly string[],
  listed: readonly string[],
  answerTool: string | undefined,
): (name: string) => string {
  const own = listed.filter((name) => name !== answerTool)
  const shown = new Map(recorded.map((name, place) => [name, own[place] ?? name]))
  return (name) => shown.get(name) ?? name
}

/** The tool by which a client speaks, among those that a door lists. */
export function speakingTool(listed: readonly string[], recorded: readonly string[]): string | undefined {
  const last = listed.length > recorded.length ? listed.at(-1) : undefined
  return last !== undefined && /^(say|submit_answer)(_\d+)?$/.test(last) ? last : undefined
}
