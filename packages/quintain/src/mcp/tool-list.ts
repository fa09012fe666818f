import { z } from 'zod'
import { messageOf } from '../core/errors.ts'
import { FaultError } from '../core/fault-error.ts'
import type { JsonSchema, Schema } from '../core/standard-schema.ts'
import { exposeToolNames } from '../core/tool-names.ts'
import { mcpFault } from './faults.ts'
import { standardSchemaOf } from './schema-check.ts'
import type { Session } from './session.ts'
import { mostSchemaLength, readInputSchema } from './tool-schema.ts'

const mostPages = 100
const mostTools = 2000
/** Characters of a description: more would be all that a model reads. */
const mostDescription = 100_000

const listedTool = z.looseObject({ name: z.string(), description: z.string().optional() })
/** A tool as a server lists it. */
export type ListedTool = z.infer<typeof listedTool>

const toolPage = z.looseObject({
  tools: z.array(listedTool),
  nextCursor: z.string().optional(),
})

/** A tool of a server, with the name under which a model sees it. */
export interface ServerTool {
  /** As the server has it. */
  name: string
  /** As the model sees it. */
  shown: string
  description: string
  input: JsonSchema
  /** Checks the arguments of a call before they are sent. */
  schema: Schema
  output: JsonSchema | undefined
}

/** Which of a server's tools are wanted, by the server's names. */
export interface ToolChoice {
  only?: readonly string[] | undefined
  except?: readonly string[] | undefined
  /** Goes before every name, with two underscores: `fs` gives `fs__read_file`. */
  prefix?: string | undefined
}

/**
 * All tools that a server offers, page by page, under safe names. Throws a `FaultError` with the code `mcp_bad_tools`
 * for a list without end, for a wanted tool that is not there, and for one whose input is no object.
 */
export async function listTools(session: Session, name: string, choice: ToolChoice): Promise<ServerTool[]> {
  const bad = (why: string) => mcpFault('mcp_bad_tools', `${name}: ${why}`, { retryable: false })
  // A server that says it has no tools need not answer for them.
  if (session.client.getServerCapabilities()?.tools === undefined) return chooseTools([], choice, bad)
  const raw: ListedTool[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  do {
    const params = cursor === undefined ? {} : { params: { cursor } }
    const answer = await session
      .request({ method: 'tools/list', ...params }, toolPage)
      .catch((thrown: unknown) => {
        const unread = thrown instanceof FaultError && thrown.fault.code === 'mcp_bad_result'
        throw unread ? bad(`its tool list cannot be read: ${messageOf(thrown)}`) : thrown
      })
    if (answer.kind !== 'result')
      throw bad(answer.kind === 'error' ? answer.message : `its tool list did not come (${answer.kind})`)
    raw.push(...answer.result.tools)
    cursor = answer.result.nextCursor
    if (raw.length > mostTools || cursors.size >= mostPages || (cursor !== undefined && cursors.has(cursor)))
      throw bad(`its tool list has no end, or more than ${mostTools} tools`)
    if (cursor !== undefined) cursors.add(cursor)
  } while (cursor !== undefined)
  return chooseTools(raw, choice, bad)
}

/**
 * The tools that are wanted, with the names that they are shown under; those do not depend on the order of the list.
 */
export function chooseTools(
  raw: readonly ListedTool[],
  { only, except, prefix }: ToolChoice,
  bad: (why: string) => Error,
): ServerTool[] {
  // Two tools of one name are one to a caller. Which of them is described must not depend on their order.
  const byName = new Map<string, (typeof raw)[number]>()
  for (const tool of raw) {
    const other = byName.get(tool.name)
    if (other === undefined || JSON.stringify(tool) < JSON.stringify(other)) byName.set(tool.name, tool)
  }
  for (const name of [...(only ?? []), ...(except ?? [])]) {
    if (!byName.has(name)) throw bad(`it has no tool ${JSON.stringify(name)}, which the environment names`)
  }
  const wanted = [...byName.values()].filter(
    ({ name }) => (only === undefined || only.includes(name)) && except?.includes(name) !== true,
  )
  const shown = exposeToolNames(
    wanted.map(({ name }) => ({ name, ...(prefix === undefined ? {} : { server: prefix }) })),
  )
  return wanted.map((tool, index) => {
    const refused = (problem: string) => {
      const named = JSON.stringify(tool.name)
      return bad(`tool ${named}: ${problem}; leave it out with except: [${named}]`)
    }
    const description = tool.description ?? (typeof tool['title'] === 'string' ? tool['title'] : '')
    if (description.length > mostDescription)
      throw refused(`its description has ${description.length} characters`)
    const read = readInputSchema(tool['inputSchema'])
    if (read.problem !== undefined) throw refused(read.problem)
    return {
      name: tool.name,
      shown: shown[index] ?? tool.name,
      description,
      input: read.schema,
      schema: standardSchemaOf({ ...read.dialect, ...read.schema }),
      output: outputSchemaOf(tool),
    }
  })
}

const jsonObject = z.record(z.string(), z.unknown())

/** What results are held against; nothing where that is no schema, or too large to be one. */
function outputSchemaOf({ outputSchema: output }: ListedTool): JsonSchema | undefined {
  const schema = jsonObject.safeParse(output).data
  return schema === undefined || JSON.stringify(schema).length > mostSchemaLength ? undefined : schema
}
