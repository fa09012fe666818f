import { type Grader, parseTemplate } from '../../scoring/index.ts'
import { leavesOf } from './lint-grader.ts'

/** How the answer that its graders want is made of a row: a template of the whole text, or one for each field of a JSON. */
export type KnownAnswer = { text: string } | { fields: Record<string, string> }

/**
 * The answer that graders compare with, where they all compare with the row: an oracle for free. Undefined where anything
 * else has a say, such as a model, a program, or a `ne`.
 */
export function knownAnswer(graders: readonly Grader[]): KnownAnswer | undefined {
  let text: string | undefined
  const fields: Record<string, string> = {}
  for (const [, leaf] of graders.flatMap(leavesOf)) {
    if (leaf.type !== 'string_check' && leaf.type !== 'text_similarity') return undefined
    if (leaf.type === 'string_check' && leaf.operation === 'ne') return undefined
    const path = onlyPath(leaf.input)
    if (path === undefined || path[0] !== 'sample' || readsSample(leaf.reference)) return undefined
    const field = path[1] === 'output_json' && path.length === 3 ? path[2] : undefined
    if (field !== undefined) {
      if (field === '__proto__' || (Object.hasOwn(fields, field) && fields[field] !== leaf.reference))
        return undefined
      fields[field] = leaf.reference
    } else if (path[1] === 'output_text' && path.length === 2 && (text ?? leaf.reference) === leaf.reference)
      text = leaf.reference
    else return undefined
  }
  if (text === undefined) return Object.keys(fields).length === 0 ? undefined : { fields }
  return Object.keys(fields).length === 0 ? { text } : undefined
}

/** The path of a template that is one place and nothing else. */
function onlyPath(template: string): readonly string[] | undefined {
  const reading = parseTemplate(template.trim())
  if (!reading.ok || reading.parts.length !== 1) return undefined
  const [part] = reading.parts
  return part !== undefined && 'path' in part ? part.path : undefined
}

function readsSample(template: string): boolean {
  const reading = parseTemplate(template)
  return !reading.ok || reading.parts.some((part) => 'path' in part && part.path[0] === 'sample')
}
