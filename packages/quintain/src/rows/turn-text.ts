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
  const at = template.indexOf('{content}')
  const [opening, closing] = at < 0 ? [template, ''] : [template.slice(0, at), template.slice(at + 9)]
  const named = (text: string, role: string) =>
    text.replaceAll(/\{role\}|\{ROLE\}/g, (name) => (name === '{role}' ? role : role.toUpperCase()))
  const close = (role: string, content: string) => {
    const whole = named(closing, role)
    const end = stop === '' ? -1 : whole.indexOf(stop)
    const own = end < 0 ? '' : whole.slice(0, end + stop.length)
    return content.endsWith(own) ? whole.slice(own.length) : whole
  }
  const said = turns.map(([role, content]) => named(opening, role) + content + close(role, content))
  return said.join('') + (generate ? named(opening, 'assistant') : '')
}
