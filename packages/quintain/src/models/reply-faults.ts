import { ModelFault, type RejectedBody } from '../core/model.ts'
import type { RawCompletion, RawMessage } from './completion.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Exchanged } from './exchange.ts'
import { classifyFailure, excerpt, type FailureClass, readProviderError } from './provider-error.ts'
import { redactTexts } from './redact.ts'
import { statedWaitMs } from './retry.ts'
import { objectsToAsks, type ServerKind } from './token-asks.ts'

/** What a fault of the provider says, beside its code and message. */
export interface FaultFacts {
  retryable?: boolean
  cause?: unknown
  status?: number | undefined
  retryAfterMs?: number | undefined
  outcome?: FailureClass['outcome']
  rejected?: RejectedBody | undefined
}

/** A fault of the provider; it is retryable unless it says otherwise. `redact` makes its message free of secrets. */
export function providerFault(
  code: string,
  message: string,
  facts: FaultFacts & { redact: (text: string) => string },
): ModelFault {
  const { retryable = true, redact, ...more } = facts
  return new ModelFault(
    { owner: 'provider', stage: 'model', code, message: redact(message), retryable },
    more,
  )
}

/** A completion, with the body that it was read from where that came whole. */
export interface ReadReply {
  completion: RawCompletion
  body?: RawMessage
}

/** Whose words a body is in: a program's own, a program's in another protocol, or (undefined) ours. */
export type BodyWriter = 'program' | 'translated' | undefined

/** Statuses that say that a body is wrong or too large. */
const bodyIsWrong: readonly number[] = [400, 413, 422]

/** Reads replies of one endpoint: the completion that one holds, or (thrown) the fault that it is. */
export function createReplyFaults(options: {
  dialect: Dialect
  /** The endpoint, for messages. */
  where: string
  /** Server that is asked for token ids, where it is. */
  asked: { server: ServerKind | undefined } | undefined
  redact(text: string): string
}): (reply: Exchanged, sent: { writer: BodyWriter }) => ReadReply {
  const { dialect, where, asked, redact } = options

  function fault(code: string, message: string, facts: FaultFacts = {}): ModelFault {
    return providerFault(code, message, { ...facts, redact })
  }

  /** The fault of a reply that says in its status or its body that it failed. */
  function failure(
    status: number,
    said: ReturnType<typeof readProviderError>,
    reply: Exchanged,
    { word = '', rejected }: { word?: string; rejected?: RejectedBody | undefined } = {},
  ): ModelFault {
    const { code, retryable, outcome } = classifyFailure(status, said)
    const told = reply.headers['x-should-retry']
    return fault(
      outcome === undefined && word !== '' ? word : code,
      `${where}: ${said.message || `status ${status}`}${hint(status, said.message)}`,
      {
        retryable: outcome === undefined && (told === 'true' || (retryable && told !== 'false')),
        status,
        outcome,
        rejected: outcome === undefined ? rejected : undefined,
        retryAfterMs: retryable ? statedWaitMs(reply.headers) : undefined,
      },
    )
  }

  function hint(status: number, message: string): string {
    if (status === 404) return ` Check the base URL (it ends before ${dialect.path}) and the model's name.`
    if ((status === 400 || status === 422) && asked !== undefined && objectsToAsks(message, asked.server))
      return ' The server is asked for token ids; if it has none to give, turn that off (tokenIds: false).'
    return ''
  }

  /** What a program is to be told of a body that it wrote; not where it may be what we have asked beside. */
  function rejectedBody(
    { status, text }: Exchanged,
    message: string,
    writer: BodyWriter,
  ): RejectedBody | undefined {
    if (writer === undefined || !bodyIsWrong.includes(status)) return undefined
    if (asked !== undefined && objectsToAsks(message, asked.server)) return undefined
    if (writer === 'translated') return { status }
    const { fields = {} } = parseBody(text) ?? {}
    // Words that are no JSON, as of a proxy, are told in ours.
    return Object.keys(fields).length === 0 ? { status } : { status, body: redactTexts(fields, redact) }
  }

  function readStatus(reply: Exchanged, writer: BodyWriter): void {
    const { status, text } = reply
    if (status === 200 || status === 201) return
    if (status >= 400) {
      const said = readProviderError(text, redact)
      throw failure(status, said, reply, { rejected: rejectedBody(reply, said.message, writer) })
    }
    throw fault(
      `http_${status}`,
      `${where} answered ${status} instead of a completion; check the base URL.`,
      { retryable: false, status },
    )
  }

  return (reply, { writer }) => {
    readStatus(reply, writer)
    const { status, text, stream } = reply
    if (stream !== undefined) {
      if (stream.state === 'incomplete') throw fault('stream_incomplete', `${where}: ${stream.message}.`)
      if (stream.state === 'error')
        throw failure(stream.error.status ?? 500, stream.error, reply, { word: 'api_error' })
      return { completion: stream.completion }
    }
    const body = parseBody(text)
    if (body === undefined) {
      if (text.trimStart().startsWith('{'))
        throw fault('closed_early', `${where} sent half a reply.`, { status })
      const seen = excerpt(text, { redact })
      throw fault('not_json', `${where} answered with something else than JSON: ${seen || '(nothing)'}`, {
        status,
      })
    }
    const broken = errorIn(body.fields)
    if (broken !== undefined) {
      const said = readProviderError(broken, redact)
      throw failure(said.status ?? 500, said, reply, { word: 'api_error' })
    }
    const completion = dialect.readReply(body.fields)
    if (completion === undefined)
      throw fault(
        'empty_choices',
        `${where} sent a reply without choices: ${excerpt(text, { limit: 120, redact })}`,
        { status },
      )
    return { completion, body: body.fields }
  }
}

function parseBody(text: string): { fields: RawMessage } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return { fields: typeof value === 'object' && value !== null ? (value as RawMessage) : {} }
  } catch {
    return undefined
  }
}

/** What says in a reply of status 200 that it failed. */
function errorIn(fields: RawMessage): unknown {
  if (fields['error'] || fields['object'] === 'error') return fields
  const choices = fields['choices']
  const choice = (Array.isArray(choices) ? choices[0] : undefined) as RawMessage | null | undefined
  return choice?.['error'] ? choice : undefined
}
