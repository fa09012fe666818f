import type { RowForm } from './lineage.ts'

/**
 * A column, or a field within one: text, a number, a list, a record of fields, or `json`, a text that holds a value's
 * JSON. Whole numbers (`int`) are of 32 bits, as ids of tokens are.
 */
export interface Field {
  name: string
  type: 'text' | 'json' | 'double' | 'float' | 'int' | 'flag' | { list: Field } | { record: readonly Field[] }
}

const field = (name: string, type: Field['type']): Field => ({ name, type })
const list = (name: string, type: Field['type']): Field => ({
  name,
  type: { list: { name: 'element', type } },
})
const record = (name: string, ...fields: Field[]): Field => ({ name, type: { record: fields } })
const texts = (...names: string[]) => names.map((name) => field(name, 'text'))

/**
 * Messages are records and not text, since that is what `datasets` hands to a trainer as lists of dicts, and arguments
 * are the text that was sampled: as records they would get each other's keys.
 */
const messageFields: Field[] = [
  ...texts('role', 'content', 'name', 'reasoning_content', 'tool_call_id'),
  list('tool_calls', {
    record: [...texts('id', 'type'), record('function', ...texts('name', 'arguments'))],
  }),
  field('weight', 'int'),
]
const messages = (name: string) => list(name, { record: messageFields })
/** Schemas of parameters are different for every tool, so they are text; TRL reads it as such. */
const tools = field('tools', 'json')

const runFields: Field[] = [
  field('schema', 'text'),
  field('v', 'int'),
  ...texts(
    'environment',
    'environment_version',
    'environment_digest',
    'rubric',
    'task',
    'split',
    'seat',
    'filter',
  ),
  field('threshold', 'double'),
  field('best_of_n', 'int'),
]
const attemptFields: Field[] = [
  ...texts('run', 'attempt', 'order', 'policy'),
  field('reward', 'double'),
  field('success', 'flag'),
]
const rowFields = [
  field('row', 'int'),
  field('weight', 'double'),
  field('exactness', 'text'),
  field('truncated', 'flag'),
]
const lineage = (...more: Field[]) => record('lineage', ...runFields, ...more)

const tensor = (name: string, type: 'int' | 'double' | 'float') =>
  record(name, list('data', type), field('dtype', 'text'), list('shape', 'int'))

const chunk: Field['type'] = { record: [field('type', 'text'), list('tokens', 'int')] }

/** The columns of each kind of row. A field that a row lacks is null there. */
export const columnsOf: Record<Exclude<RowForm, 'tokens'>, readonly Field[]> = {
  sft: [lineage(...attemptFields, ...rowFields), messages('messages'), tools],
  preference: [
    lineage(
      record('chosen', ...attemptFields),
      record('rejected', ...attemptFields),
      field('margin', 'double'),
      field('difference', 'double'),
    ),
    messages('prompt'),
    messages('chosen'),
    messages('rejected'),
    tools,
  ],
  tinker: [
    lineage(
      ...attemptFields,
      ...rowFields,
      ...texts('loss', 'group'),
      field('baseline', 'double'),
      field('group_size', 'int'),
    ),
    record(
      'datum',
      record('model_input', list('chunks', chunk)),
      record(
        'loss_fn_inputs',
        tensor('target_tokens', 'int'),
        tensor('logprobs', 'float'),
        tensor('advantages', 'float'),
        tensor('weights', 'float'),
      ),
    ),
  ],
  trl: [
    lineage(...attemptFields, field('exactness', 'text'), field('truncated', 'flag'), field('group', 'text')),
    messages('prompt'),
    list('prompt_ids', 'int'),
    list('completion_ids', 'int'),
    list('logprobs', 'float'),
    list('env_mask', 'int'),
    field('reward', 'double'),
  ],
  // A message or a choice in one list, and metrics of any name: text, as ART's own file has them.
  art: [
    lineage(field('group', 'text'), list('runs', 'text')),
    field('trajectories', 'json'),
    field('exceptions', 'json'),
    field('metadata', 'json'),
    field('metrics', 'json'),
    list('logs', 'text'),
  ],
}

/** The columns of rows of tokens, and of their rows of text. */
export const tokenColumns: readonly Field[] = [
  field('schema', 'text'),
  field('v', 'int'),
  ...texts('attempt', 'order', 'task', 'seat', 'exactness'),
  field('row', 'int'),
  field('branch', 'int'),
  field('reward', 'double'),
  field('weight', 'double'),
  field('truncated', 'flag'),
  list('ids', 'int'),
  list('mask', 'int'),
  list('logprobs', 'float'),
  field('spans', 'json'),
  field('messages', 'json'),
  list('trained', 'flag'),
  tools,
]
