import {
  type AllowedCall,
  actionMatches,
  admitGoldSheet,
  admitTask,
  argumentMatches,
  type Cells,
  callsMatchUnordered,
  communicated,
  composeReward,
  lintTask,
  type ParameterSchema,
  type StateRules,
  sqlResultEqual,
  stateDigest,
  stateEqual,
  type ToolAction,
  type ValueType,
} from '../../packages/quintain/src/scoring/index.ts'

type Input = Record<string, unknown>

/** Types of the cases that need more than the JSON value itself: 10 and 10.0 are one number as they are. */
const typeNames: Record<string, ValueType> = {
  datetime: 'datetime',
  timestamp: 'datetime',
  date: 'date',
  decimal: 'decimal',
  money: 'decimal',
}

/** Rules as the cases write them: fields by name, wherever they stand. */
function rulesOf({ ignore, unordered, types }: Input): StateRules {
  const anywhere = (paths: unknown) => ((paths ?? []) as string[]).map((path) => `**.${path}`)
  return {
    ignore: anywhere(ignore),
    unordered: anywhere(unordered),
    types: Object.fromEntries(
      Object.entries((types ?? {}) as Record<string, string>).flatMap(([path, type]) => {
        const known = typeNames[type]
        return known === undefined ? [] : [[`**.${path}`, known]]
      }),
    ),
  }
}

interface ArgumentCase {
  type: string
  expected: unknown
  actual: unknown
}

/** `[{ f: { x: [1] } }]`: a call under its name. */
const namedCalls = (calls: unknown) =>
  (calls as Record<string, Record<string, unknown>>[]).flatMap((call) =>
    Object.entries(call).map(([name, args]) => ({ name, arguments: args })),
  )

function validate({
  gold_actions,
  tool_raises,
  gold_reward,
  gold_patch_runs,
  null_agent_reward,
  ...rest
}: Input) {
  if (rest['gold_cached'] !== undefined)
    return admitGoldSheet(rest['gold'] as Cells, rest['gold_cached'] as Cells)
  const known = [gold_actions, tool_raises, gold_reward, gold_patch_runs, null_agent_reward]
  if (known.every((value) => value === undefined))
    throw new Error(`no validation of ${Object.keys(rest).join(', ')} yet: it belongs to another area`)
  return admitTask({
    ...(gold_actions === undefined ? {} : { goldFailed: tool_raises === true }),
    ...(gold_reward === undefined ? {} : { goldReward: gold_reward as number | null }),
    ...(gold_patch_runs === undefined ? {} : { goldRuns: gold_patch_runs as boolean[] }),
    ...(null_agent_reward === undefined ? {} : { nullReward: null_agent_reward as number | null }),
  })
}

export const ops: Record<string, (input: Input) => unknown> = {
  'state.equal': ({ a, b, ...rules }) => ({ equal: stateEqual(a, b, rulesOf(rules)) }),
  'state.hash.equal': ({ a, b, ...rules }) => ({
    equal: stateDigest(a, rulesOf(rules)) === stateDigest(b, rulesOf(rules)),
  }),
  'action.match': ({ expected, actual, compare_args, schema }) => ({
    match: actionMatches(expected as ToolAction, actual as ToolAction, {
      compareArgs: (compare_args ?? null) as string[] | null,
      schema: (schema ?? {}) as ParameterSchema,
    }),
  }),
  'args.match.batch': ({ cases, string_mode }) => {
    const strings = string_mode === undefined || string_mode === 'exact' ? 'exact' : 'loose'
    return {
      match: (cases as ArgumentCase[]).map(({ type, expected, actual }) =>
        argumentMatches(type, expected, actual, { strings }),
      ),
    }
  },
  'calls.match_unordered': ({ allowed, actual }) => ({
    match: callsMatchUnordered(namedCalls(allowed) as AllowedCall[], namedCalls(actual)),
  }),
  'sql.result.equal': ({ expected, actual, order_by_in_gold }) => ({
    equal: sqlResultEqual(expected as unknown[][], actual as unknown[][], {
      ordered: order_by_in_gold === true,
    }),
  }),
  'communicate.check': ({ info, messages }) => ({
    met: communicated(String(info), messages as string[]),
  }),
  'reward.compose': ({ basis, parts }) => {
    const { reward, unused, missing } = composeReward(
      basis as string[],
      parts as Record<string, number | null>,
    )
    return { reward, unused_checks: unused, missing }
  },
  'task.validate': validate,
  'task.lint': ({ gold_action, assertion_text }) => ({
    findings: lintTask({ goldActions: [gold_action], texts: [String(assertion_text)] }),
  }),
}
