import type { Content, JsonSchema, JudgeRequest, Message, Sampling } from '../../core/index.ts'
import type { GraderItem, GraderPart, GraderSample, LabelModelGrader, ScoreModelGrader } from './grader.ts'
import { type Rendered, renderTemplate } from './template.ts'

/** Part of the identity of every model grader: the form that is asked of replies, and how they are read. */
export const judgeForm = 'steps-result/1'

export type JudgeRequestOf = { ok: true; request: JudgeRequest } | Unasked

type Unasked =
  | Extract<Rendered, { ok: false }>
  | { ok: false; code: 'model_grader_server_error'; message: string }

/**
 * What a model grader asks: its messages with the values in them, its sampling, and a reply of steps and a result. The
 * vendor asks for the same form, as saved outputs of its evals show.
 */
export function judgeRequest(
  grader: ScoreModelGrader | LabelModelGrader,
  values: { item: GraderItem; sample: GraderSample },
): JudgeRequestOf {
  const messages: Message[] = []
  for (const { role, content } of grader.input) {
    const parts: Exclude<Content, string> = []
    for (const part of content) {
      const filled = partOf(part, values)
      if (!filled.ok) return filled
      parts.push(filled.part)
    }
    const said = parts.every(({ type }) => type === 'text') ? textIn(parts) : parts
    messages.push({ role: role === 'developer' ? 'system' : role, content: said })
  }
  const sampling = samplingOf(grader.sampling)
  const result: JsonSchema =
    grader.type === 'score_model' ? { type: 'number' } : { type: 'string', enum: [...grader.labels] }
  return {
    ok: true,
    request: {
      messages,
      ...(sampling === undefined ? {} : { sampling }),
      output: { name: 'grade', schema: replyOf(result), strict: true },
    },
  }
}

function textIn(parts: Exclude<Content, string>): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

type Filled = { ok: true; part: Exclude<Content, string>[number] } | Unasked

function partOf(part: GraderPart, values: { item: GraderItem; sample: GraderSample }): Filled {
  if (part.type === 'audio')
    return { ok: false, code: 'model_grader_server_error', message: 'judges are not shown audio here' }
  const rendered = renderTemplate(part.type === 'text' ? part.text : part.url, values)
  if (!rendered.ok) return rendered
  if (part.type === 'text') return { ok: true, part: { type: 'text', text: rendered.text } }
  const detail = part.detail === undefined ? {} : { detail: part.detail }
  const inline = /^data:([a-z0-9.+/-]{1,100});base64,/i.exec(rendered.text)
  if (inline === null)
    return { ok: true, part: { type: 'image', mediaType: 'image/*', url: rendered.text, ...detail } }
  const data = rendered.text.slice(inline[0].length)
  return { ok: true, part: { type: 'image', mediaType: inline[1]!, data, ...detail } }
}

function samplingOf(given: ScoreModelGrader['sampling']): Sampling | undefined {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function replyOf(result: JsonSchema): JsonSchema {
  const text = { type: 'string' }
  const step = {
    type: 'object',
    properties: { description: text, conclusion: text },
    required: ['description', 'conclusion'],
    additionalProperties: false,
  }
  return {
    type: 'object',
    properties: { steps: { type: 'array', items: step }, result },
    required: ['steps', 'result'],
    additionalProperties: false,
  }
}
