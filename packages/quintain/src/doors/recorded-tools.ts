import { type Message, nestsTooDeep, sha256, type ToolSpec } from '../core/index.ts'
import { SeenValues } from './infer-schema.ts'
import { SeenProse } from './seen-prose.ts'

/** What recordings show of a tool. */
export interface RecordedTool extends ToolSpec {
  /** As the recordings call it, where that is no name that every provider takes. */
  recordedAs?: string
  calls: number
  conversations: number
  /** True where a file described it; otherwise its parameters were inferred from calls. */
  described: boolean
  /** Calls whose arguments were no JSON object. */
  unreadable: number
  /** A guess from its name: whether it changes anything. */
  changes: boolean
  /** A guess from its name: whether it hands the customer over to people, which changes nothing that can be compared. */
  handsOver: boolean
  /** Arguments that are sentences, as far as the calls show: nobody writes them the same way twice. */
  freeText: string[]
}

/** First words of names of tools that only look, or only think. */
const lookingWords =
  /^(?:get|list|search|find|read|lookup|look|fetch|query|show|view|describe|count|check|calculate|compute|think|plan|browse|retrieve|inspect|verify|validate|is|has)(?:$|[_\-A-Z0-9])/

/** Names of tools by which an agent gives the conversation to somebody else, and leaves what it is about as it is. */
const handingOver =
  /^(?:escalate|hand_?(?:over|off))|^(?:transfer|connect|route|forward|refer|hand|pass)_(?:(?:call|caller|chat|conversation|customer|user|session)_)?(?:to_)?(?:(?:an?|the|live)_)*(?:human|agent|person|people|operator|representative|specialist|supervisor|manager|support|staff|team)/

/** `transferToHuman` as `transfer_to_human`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .toLowerCase()
}

/** A name that every provider takes: as it is, or cleaned, with a digest so that two stay two. */
export function safeToolName(name: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name
  const clean = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 55)
  return `${clean}_${sha256(name).slice(0, 8)}`
}

/** Gathers the tools of conversations, one conversation at a time. */
export class ToolsSeen {
  readonly #tools = new Map<
    string,
    {
      calls: number
      conversations: number
      unreadable: number
      seen: SeenValues
      prose: SeenProse
      spec: ToolSpec | undefined
    }
  >()
  #differing = new Set<string>()

  add(messages: readonly Message[], offered: readonly ToolSpec[] = []): void {
    for (const spec of offered) {
      const entry = this.#entry(spec.name)
      if (entry.spec === undefined) entry.spec = spec
      else if (JSON.stringify(entry.spec) !== JSON.stringify(spec)) this.#differing.add(spec.name)
    }
    const used = new Set<string>()
    for (const message of messages) {
      if (message.role !== 'assistant') continue
      for (const { name, arguments: given } of message.toolCalls ?? []) {
        const entry = this.#entry(name)
        entry.calls++
        if (!used.has(name)) entry.conversations++
        used.add(name)
        const value = parsedArguments(given)
        if (value === undefined) entry.unreadable++
        else {
          entry.seen.add(value)
          entry.prose.add(value)
        }
      }
    }
  }

  /** Tools that conversations describe differently; the first description counts. */
  differing(): string[] {
    return [...this.#differing]
  }

  list(): RecordedTool[] {
    return [...this.#tools]
      .map(([recordedAs, { calls, conversations, unreadable, seen, prose, spec }]): RecordedTool => {
        const name = safeToolName(recordedAs)
        const handsOver = handingOver.test(snakeCase(recordedAs))
        const times = calls === 1 ? 'once' : `${calls} times`
        const inferred = {
          description: `Recorded ${times}; what it does is not in the recordings.`,
          // A provider wants an object whatever was seen, and nothing may have been.
          parameters: { ...seen.schema(), type: 'object', properties: seen.schema()['properties'] ?? {} },
        }
        return {
          name,
          ...(name === recordedAs ? {} : { recordedAs }),
          description: spec?.description || inferred.description,
          parameters: spec?.parameters ?? inferred.parameters,
          calls,
          conversations,
          described: spec !== undefined,
          unreadable,
          changes: !lookingWords.test(recordedAs) && !handsOver,
          handsOver,
          freeText: prose.names(),
        }
      })
      .sort((a, b) => b.calls - a.calls || a.name.localeCompare(b.name))
  }

  #entry(name: string) {
    let entry = this.#tools.get(name)
    if (entry === undefined) {
      entry = {
        calls: 0,
        conversations: 0,
        unreadable: 0,
        seen: new SeenValues(),
        prose: new SeenProse(),
        spec: undefined,
      }
      this.#tools.set(name, entry)
    }
    return entry
  }
}

/** Arguments of a call as an object; none at all are an empty one. Undefined for what is no JSON object, and for what nests so deep that nobody reads it. */
export function parsedArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    const readable =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !nestsTooDeep(text)
    return readable ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
