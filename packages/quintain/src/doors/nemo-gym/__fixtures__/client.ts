import type { OpenDoor } from '../../serve/door.ts'
import type { SessionCore } from '../../session/session.ts'
import { nemoGymDoor } from '../door.ts'
import type { JsonObject } from '../json.ts'

export interface Answer {
  status: number
  text: string
  /** Undefined for what is no JSON. */
  json: JsonObject | undefined
  cookie: string | undefined
}

/** One agent of NeMo Gym: takes the cookies of each answer in the place of those that it had. */
export class NemoClient {
  readonly url: string
  cookie: string | undefined
  headers: Record<string, string>

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url
    this.headers = headers
  }

  async post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...this.headers,
        ...headers,
        ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0]
    this.cookie = cookie
    let json: JsonObject | undefined
    try {
      json = JSON.parse(text) as JsonObject
    } catch {}
    return { status: answer.status, text, json, cookie }
  }

  async get(path: string): Promise<Answer> {
    const answer = await fetch(`${this.url}${path}`, { headers: this.headers })
    const text = await answer.text()
    return { status: answer.status, text, json: JSON.parse(text) as JsonObject, cookie: undefined }
  }
}

/** Opens the door on a free port. */
export async function served(
  core: SessionCore,
  { token, logged = [] }: { token?: string; logged?: string[] } = {},
): Promise<{ door: OpenDoor; url: string }> {
  const door = await nemoGymDoor.open([core], {
    host: '127.0.0.1',
    port: 0,
    ...(token === undefined ? {} : { token }),
    log: (line) => logged.push(line),
  })
  return { door, url: door.addresses[0]!.url }
}

/** A row of the fake core's tasks. */
export function row(task = 'train-0'): JsonObject {
  return {
    responses_create_params: { input: [{ role: 'user', content: `Question ${task}?` }] },
    task_id: task,
    verifier_metadata: { quintain: { environment: '@quintain/fake', split: 'train', task } },
  }
}

/** A response of the Responses API in which the agent says a text, after calls. */
export function response(...output: (string | JsonObject)[]): JsonObject {
  return {
    id: 'resp_1',
    created_at: 1,
    model: 'scripted',
    object: 'response',
    output: output.map((item) =>
      typeof item === 'string'
        ? {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: item, annotations: [] }],
          }
        : item,
    ),
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
  }
}

/** A call of a tool, as an item of a response. */
export function functionCall(name: string, given: unknown, id = `call_${name}`): JsonObject {
  return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(given) }
}
