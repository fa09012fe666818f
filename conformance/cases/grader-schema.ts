import {
  formulaProblems,
  type GraderResult,
  readGrader,
  renderTemplate,
  runGrader,
} from '../../packages/quintain/src/scoring/index.ts'

type Input = Record<string, unknown>

/** A score, and in one word whether there is one. */
function told({ score, error, raw, normalised, label }: GraderResult) {
  const isLost = error !== undefined
  return {
    ...{ score, raw, normalised, label, error: error?.code, message: error?.message },
    status: isLost ? error.code : 'scored',
  }
}

async function judged(grader: Input, reply: unknown) {
  return told(
    await runGrader({
      grader: readGrader({ name: 'judge', model: 'case', input: 'Judge.', ...grader }).grader,
      item: {},
      sample: { output_text: '' },
      means: { ask: async () => ({ text: String(reply), finish: 'stop' }) },
    }),
  )
}

/** Each score comes from a Python source, so that any number can stand for a part. */
async function multi({ scores, calculate_output }: Input) {
  const given = Object.entries(scores as Record<string, number | null>)
  const part = (name: string) => [name, { type: 'python', name, source: name }]
  const { grader } = readGrader({
    ...{ type: 'multi', name: 'multi', calculate_output },
    graders: Object.fromEntries(given.map(([name]) => part(name))),
  })
  const result = await runGrader({
    grader,
    item: {},
    sample: { output_text: '' },
    means: {
      python: async (source) => {
        const value = given.find(([name]) => name === source)?.[1] ?? Number.NaN
        return {
          ok: true,
          value,
          stdout: '',
          runtime: { kind: 'box', python: '', packages: {}, unlike: [] },
          ms: 0,
        }
      },
    },
  })
  const { status, ...rest } = told(result)
  return { ...rest, status: status === 'scored' ? status : 'grader_error' }
}

async function stringChecks({ cases }: Input) {
  const results = (cases as Input[]).map(async (one) => {
    const operation = one['operation'] ?? one['op']
    // What a case gives are values, whatever braces they have.
    const { grader } = readGrader({
      ...{ type: 'string_check', name: 'check', operation },
      ...{ input: '{{sample.output_text}}', reference: '{{item.reference}}' },
    })
    const sample = { output_text: String(one['input'] ?? one['output'] ?? '') }
    return (await runGrader({ grader, item: { reference: one['reference'] }, sample })).score
  })
  return { scores: await Promise.all(results) }
}

function render({ template, item, sample }: Input) {
  const { output_text = '', ...rest } = (sample ?? {}) as Input
  const rendered = renderTemplate(String(template), {
    item: (item ?? {}) as Input,
    sample: { ...rest, output_text: String(output_text) },
  })
  if (rendered.ok) return { status: 'rendered', text: rendered.text }
  return { status: rendered.code, score: rendered.code === 'sample_parse_error' ? 0 : null }
}

function validate({ graders, calculate_output }: Input) {
  const names = Array.isArray(graders) ? graders.map(String) : Object.keys(graders as Input)
  const [problem] = formulaProblems('multi', String(calculate_output), names)
  return {
    valid: problem === undefined,
    error: problem?.code ?? null,
    name: problem?.name,
    position: problem?.at,
  }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'grader.label_model': ({ labels, passing, reply }) =>
    judged({ type: 'label_model', labels, passing_labels: passing }, reply),
  'grader.multi': multi,
  'grader.render': render,
  'grader.score_model': ({ range, model_reply }) => judged({ type: 'score_model', range }, model_reply),
  'grader.string_check.batch': stringChecks,
  'grader.validate': validate,
}
