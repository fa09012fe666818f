/** One turn of a conversation: who speaks, and what is said. */
export type Turn = readonly [role: string, content: string]

/**
 * The text of a conversation for a model that has no chat template of its own. `template` is that of one turn, with
 * `{role}` (or `{ROLE}`) and `{content}`. With `generate` it ends as a turn of the assistant begins.
 *
 * Each text begins with the one before and what was generated then: turns are rendered alike wherever they stand, and a
 * turn that a model ended itself, up to `stop`, is closed by what the template still has after that and no more.
 *
 * @example turnText('{ROLE}: {content}\n', [['user', 'Hi']], { generate: true }) // 'USER: Hi\nASSISTANT: '
 */
export function turnText(
  template: string,
  turns: readonly Turn[],
  { generate = false, stop = '' }: { generate?: boolean; stop?: string } = {},
): string {
  const [opening = '', closing = ''] = template.split('{content}')
  const open = (role: string) => opening.replaceAll('{role}', role).replaceAll('{ROLE}', role.toUpperCase())
  const close = (content: string) =>
    stop !== '' && content.endsWith(stop) && closing.startsWith(stop) ? closing.slice(stop.length) : closing
  const said = turns.map(([role, content]) => open(role) + content + close(content))
  return said.join('') + (generate ? open('assistant') : '')
}
