import type { ServedEnvironment } from '../session/session.ts'

type Schema = Record<string, unknown>

const metadata: Schema = {
  type: 'object',
  title: 'Metadata',
  description: 'More about it.',
  additionalProperties: true,
}

/**
 * The action of an environment. Clients go by its title: that of a call makes them ask for the tools first. One with a single
 * required field lets them send what a model said as it is.
 */
export function actionSchema({ needs }: ServedEnvironment): Schema {
  if (!needs.includes('tools'))
    return {
      title: 'MessageAction',
      description: 'What the agent says.',
      type: 'object',
      additionalProperties: false,
      properties: {
        message: { type: 'string', title: 'Message', description: 'What the agent says.' },
        metadata,
      },
      required: ['message'],
    }
  return {
    title: 'CallToolAction',
    description: 'Calls a tool; `{ "type": "list_tools" }` lists them.',
    type: 'object',
    additionalProperties: false,
    properties: {
      type: { type: 'string', const: 'call_tool', default: 'call_tool', title: 'Type' },
      tool_name: { type: 'string', title: 'Tool Name', description: 'Name of the tool to call.' },
      arguments: { type: 'object', title: 'Arguments', additionalProperties: true },
      metadata,
    },
    required: ['tool_name'],
  }
}

export function observationSchema({ needs }: ServedEnvironment): Schema {
  const error: Schema = {
    anyOf: [
      {
        type: 'object',
        properties: { error_type: { type: 'string' }, message: { type: 'string' } },
        required: ['error_type', 'message'],
      },
      { type: 'null' },
    ],
    default: null,
  }
  const base = { done: { type: 'boolean', default: false }, reward: nullable('number'), metadata }
  if (!needs.includes('tools'))
    return {
      title: 'MessageObservation',
      type: 'object',
      properties: {
        ...base,
        message: { type: 'string', description: 'What the environment answers.' },
        messages: { type: 'array', items: { type: 'object' } },
        error,
      },
    }
  return {
    title: 'CallToolObservation',
    type: 'object',
    properties: { ...base, tool_name: { type: 'string' }, result: {}, error },
  }
}

export const resetObservationSchema: Schema = {
  title: 'ResetObservation',
  type: 'object',
  properties: {
    done: { type: 'boolean', default: false },
    reward: nullable('number'),
    metadata,
    prompt: { type: 'string', description: 'All that the agent is told, as one text.' },
    messages: { type: 'array', items: { type: 'object' }, description: 'The same as messages of a chat.' },
  },
  required: ['prompt', 'messages'],
}

export const stateSchema: Schema = {
  title: 'State',
  type: 'object',
  additionalProperties: true,
  properties: {
    episode_id: nullable('string'),
    step_count: { type: 'integer', minimum: 0, default: 0 },
    session_id: { type: 'string', description: 'Takes the session up again: /ws?session_id=…' },
    task_id: { type: 'string' },
    split: { type: 'string' },
    index: { type: 'integer', minimum: 0 },
    done: { type: 'boolean' },
  },
}

function nullable(type: string): Schema {
  return { anyOf: [{ type }, { type: 'null' }], default: null }
}
