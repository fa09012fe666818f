import { isObject, readChatMessages } from '../../core/chat-messages.ts'
import { renderTemplate } from '../../scoring/index.ts'
import { readDeclaredTools } from './declared-tools.ts'
import type { EvalFiles } from './eval-files.ts'
import type { Findings } from './findings.ts'
import type { HostedRow } from './hosted-row.ts'
import type { HeldRow } from './read-files.ts'

/** Fields that hold the question, by their usual names, where no run says how a row is asked. */
const questions = ['messages', 'input', 'prompt', 'question', 'query', 'user_input', 'text']

/**
 * Rows of an eval as tasks. How a row is asked is said by the template of a run, else by what an output item holds of what was sent, else
 * guessed from the names of the row's fields.
 */
export function evalRows({ runs, data, items }: EvalFiles, findings: Findings): HostedRow[] {
  const source = runs
    .map((run) => run['data_source'])
    .find((one) => isObject(one) && isObject(one['input_messages']))
  const asked = isObject(source) && isObject(source['input_messages']) ? source['input_messages'] : undefined
  const sampling = isObject(source) && isObject(source['sampling_params']) ? source['sampling_params'] : {}
  const tools = readDeclaredTools(sampling['tools'])
  if (typeof tools === 'string')
    findings.add({
      severity: 'error',
      code: 'bad_tools',
      place: 'eval run',
      message: `The tools of the run cannot be carried: ${tools}.`,
    })
  if (
    runs.some(
      (run) =>
        isObject(run['data_source']) &&
        isObject(run['data_source']['source']) &&
        run['data_source']['source']['type'] === 'file_id',
    ) &&
    data.length === 0 &&
    items.length === 0
  )
    findings.add({
      severity: 'error',
      code: 'file_elsewhere',
      place: 'eval run',
      message:
        'The run names its data by the id of a file at the vendor; download that file and give it too.',
    })
  // Output items repeat the rows, once for each run.
  const seen = new Set<string>()
  const found: (HeldRow & { sent?: unknown })[] =
    data.length > 0
      ? data
      : items.map((row) => ({
          ...row,
          value: { item: row.value['datasource_item'] },
          sent: isObject(row.value['sample']) ? row.value['sample']['input'] : undefined,
        }))
  const rows = found.flatMap((row): HostedRow[] => {
    const item = row.value['item']
    if (!isObject(item)) {
      findings.add({
        severity: 'error',
        code: 'no_item',
        place: row.place,
        message: 'The row has no "item".',
      })
      return []
    }
    const given = data.length === 0 && row.sent === undefined ? JSON.stringify(item) : undefined
    if (given !== undefined && seen.has(given)) return []
    if (given !== undefined) seen.add(given)
    const messages = messagesOf(item, {
      ...(asked === undefined ? {} : { asked }),
      sent: row.sent,
      place: row.place,
      findings,
    })
    if (messages === undefined) return []
    const key = JSON.stringify([messages, item])
    if (data.length === 0 && seen.has(key)) return []
    seen.add(key)
    return [
      {
        place: row.place,
        split: 'test',
        messages,
        tools: typeof tools === 'string' ? [] : tools,
        item,
        huge: row.huge,
      },
    ]
  })
  if (rows.length === 0 && !findings.failed)
    findings.add({
      severity: 'error',
      code: 'no_rows',
      place: 'command',
      message:
        'No file holds rows; give the data (JSON lines of { "item": … }), a run with its content, or its output items.',
    })
  return rows
}

interface Asked {
  asked?: Record<string, unknown>
  sent: unknown
  place: string
  findings: Findings
}

function messagesOf(
  item: Record<string, unknown>,
  { asked, sent, place, findings }: Asked,
): HostedRow['messages'] | undefined {
  const refuse = (message: string): undefined => {
    findings.add({ severity: 'error', code: 'no_prompt', place, message })
  }
  let raw: unknown
  if (asked !== undefined) raw = templated(asked, item)
  else if (Array.isArray(sent) && sent.length > 0) raw = sent
  else {
    const field = questions.find(
      (name) => item[name] !== undefined && item[name] !== null && (name === 'messages' || item[name] !== ''),
    )
    if (field === undefined)
      return refuse(
        `Nothing says how the row is asked; give the run that has input_messages, or name the field ${questions.slice(1, 4).join(', ')} or messages.`,
      )
    const value = item[field]
    findings.add({
      severity: 'guess',
      code: 'guessed_prompt',
      place,
      message: `No run says how rows are asked; item.${field} is taken for the prompt.`,
    })
    raw = Array.isArray(value)
      ? value
      : [{ role: 'user', content: typeof value === 'string' ? value : JSON.stringify(value) }]
  }
  if (typeof raw === 'string') return refuse(raw)
  const read = readChatMessages(raw)
  if (typeof read === 'string' || read.messages.length === 0)
    return refuse(
      `The prompt of the row cannot be read: ${typeof read === 'string' ? read : 'it has no message'}.`,
    )
  for (const note of read.notes)
    findings.add({ severity: 'warning', code: 'changed', place, message: `${note}.` })
  return read.messages
}

/** The messages of a row by the template of a run, or what is wrong. */
function templated(asked: Record<string, unknown>, item: Record<string, unknown>): unknown {
  const { type, template } = asked
  if (type === 'item_reference') {
    const path = typeof asked['item_reference'] === 'string' ? asked['item_reference'] : ''
    let value: unknown = { item }
    for (const name of path.replaceAll(/[{}\s]/g, '').split('.'))
      value = isObject(value) ? value[name] : undefined
    return value ?? `The run asks by ${path}, which the row has not.`
  }
  if (!Array.isArray(template))
    return 'The input_messages of the run are neither a template nor an item_reference.'
  const whole: unknown[] = []
  for (const message of template as unknown[]) {
    if (!isObject(message)) return 'The template of the run holds what is no message.'
    const filled = filledContent(message['content'], item)
    if (!filled.ok) return filled.message
    whole.push({ ...message, content: filled.content })
  }
  return whole
}

type Filled = { ok: true; content: unknown } | { ok: false; message: string }

function filledContent(content: unknown, item: Record<string, unknown>): Filled {
  const fill = (text: string): Filled => {
    const rendered = renderTemplate(text, { item, sample: { output_text: '' } })
    return rendered.ok
      ? { ok: true, content: rendered.text }
      : { ok: false, message: `The template of the run cannot be filled: ${rendered.message}.` }
  }
  if (typeof content === 'string') return fill(content)
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  const made: unknown[] = []
  for (const part of parts) {
    const text = typeof part === 'string' ? part : isObject(part) ? part['text'] : undefined
    if (typeof text !== 'string') {
      made.push(part)
      continue
    }
    const filled = fill(text)
    if (!filled.ok) return filled
    made.push({ type: 'text', text: filled.content })
  }
  return { ok: true, content: made }
}

/** Saved outputs and what they got, for the parity report: `{ item, sample, expected: { grader: score } }`. */
export function parityRows({
  items,
}: EvalFiles): { item: unknown; sample: unknown; expected: Record<string, number> }[] {
  return items.flatMap(({ value }) => {
    const results: unknown[] = Array.isArray(value['results']) ? value['results'] : []
    const expected = results.flatMap((result): [string, number][] => {
      if (!isObject(result) || typeof result['name'] !== 'string') return []
      // Names of criteria come with the criterion's id behind them in exports of the API.
      const name = result['name'].replace(
        /-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
        '',
      )
      const score =
        typeof result['score'] === 'number'
          ? result['score']
          : typeof result['passed'] === 'boolean'
            ? Number(result['passed'])
            : undefined
      return score === undefined ? [] : [[name, score]]
    })
    const sample = sampleFrom(value['sample'])
    return sample === undefined || expected.length === 0
      ? []
      : [{ item: value['datasource_item'] ?? {}, sample, expected: Object.fromEntries(expected) }]
  })
}

function sampleFrom(saved: unknown): Record<string, unknown> | undefined {
  if (!isObject(saved)) return undefined
  if (typeof saved['output_text'] === 'string') return saved
  const output: unknown[] = Array.isArray(saved['output']) ? saved['output'] : []
  const last = output.findLast(
    (message) => isObject(message) && (message['role'] ?? 'assistant') === 'assistant',
  )
  if (!isObject(last)) return undefined
  const content = last['content']
  const texts: unknown[] = Array.isArray(content)
    ? content.map((part: unknown) => (isObject(part) ? part['text'] : part))
    : [content]
  const output_text = texts.filter((text) => typeof text === 'string').join('')
  return { output_text, ...(Array.isArray(last['tool_calls']) ? { output_tools: last['tool_calls'] } : {}) }
}
