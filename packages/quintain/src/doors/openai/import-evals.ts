import { isObject } from '../../core/chat-messages.ts'
import { canonicalJson } from '../../core/index.ts'
import type { Grader } from '../../scoring/index.ts'
import { type EvalFiles, sortEvalFiles } from './eval-files.ts'
import { evalRows, parityRows } from './eval-rows.ts'
import { Findings } from './findings.ts'
import { type HostedPackage, refuseFindings, writeHostedPackage } from './hosted-package.ts'
import { tellDuplicates } from './hosted-row.ts'
import { readFound } from './import-rft.ts'
import { readResponseFormat } from './job.ts'
import { lintGrader } from './lint-grader.ts'
import { lintRows } from './lint-rows.ts'
import { type HeldFile, readHeldFile } from './read-files.ts'

/**
 * Makes the parts of an environment package of what somebody holds of hosted evals: the eval, its runs, their output items
 * and data, in any order. Nothing is asked of any service. Throws `import_invalid` with all that is wrong, and then nothing
 * was written.
 */
export async function importEvals(paths: readonly string[], dir: string): Promise<HostedPackage> {
  const findings = new Findings()
  const files: HeldFile[] = []
  for (const path of paths) files.push(await readHeldFile(path))
  const sorted = sortEvalFiles(files, findings)
  const graders = criteriaOf(sorted, findings)
  const rows = evalRows(sorted, findings)
  tellDuplicates(rows, findings)
  for (const grader of graders) lintGrader(grader, findings, 'evals')
  if (rows.length > 0 && graders.length > 0) lintRows(rows, graders, findings)
  tellThresholds(graders, findings)
  const output = formatOf(sorted, findings)
  refuseFindings(findings)
  const source = isObject(sorted.eval?.['data_source_config']) ? sorted.eval['data_source_config'] : {}
  const schema = source['item_schema'] ?? source['schema']
  const parity = parityRows(sorted)
  const criteria = sorted.eval?.['testing_criteria']
  return await writeHostedPackage(
    {
      kind: 'evals',
      graders,
      rows,
      ...(output === undefined ? {} : { output }),
      files,
      findings,
      facts: { eval: factsOf(sorted.eval), runs: sorted.runs.map(factsOf) },
      extra: {
        'eval.json': `${JSON.stringify(sorted.eval, null, 2)}\n`,
        'criteria.json': `${JSON.stringify(renamed(criteria, graders), null, 2)}\n`,
        ...(isObject(schema) ? { 'item-schema.json': `${JSON.stringify(schema, null, 2)}\n` } : {}),
        ...(parity.length === 0
          ? {}
          : {
              'parity.jsonl': lines(parity),
              'saved/output-items.jsonl': lines(sorted.items.map(({ value }) => value)),
            }),
      },
    },
    dir,
  )
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

function criteriaOf({ eval: object }: EvalFiles, findings: Findings): Grader[] {
  const given = object?.['testing_criteria']
  if (!Array.isArray(given) || given.length === 0) {
    if (object !== undefined)
      findings.add({
        severity: 'error',
        code: 'no_criteria',
        place: 'eval',
        message: 'The eval has no testing_criteria.',
      })
    return []
  }
  const names = new Set<string>()
  return (given as unknown[]).flatMap((criterion, index): Grader[] => {
    const place = `testing_criteria[${index}]`
    const grader = readFound(criterion, place, findings)
    if (grader === undefined) return []
    let { name } = grader
    for (let count = 2; names.has(name); count++) name = `${grader.name}_${count}`
    names.add(name)
    if (name !== grader.name)
      findings.add({
        severity: 'guess',
        code: 'same_name',
        place,
        message: `Two criteria are called ${grader.name}; the later one is called ${name} here.`,
      })
    return [{ ...grader, name }]
  })
}

/** The criteria as they were, but for names of which there were two. */
function renamed(criteria: unknown, graders: readonly Grader[]): unknown[] {
  const list: unknown[] = Array.isArray(criteria) ? criteria : []
  return list.map((criterion, index) =>
    isObject(criterion) ? { ...criterion, name: graders[index]?.name } : criterion,
  )
}

function tellThresholds(graders: readonly Grader[], findings: Findings): void {
  for (const { name, type, passThreshold } of graders)
    if (passThreshold === undefined && type !== 'string_check' && type !== 'label_model')
      findings.add({
        severity: 'warning',
        code: 'no_threshold',
        place: `grader ${name}`,
        message:
          'It has no pass_threshold, so nothing says when a task is passed: the package has rewards and no success. Name one in src/index.ts.',
      })
}

function formatOf({ runs }: EvalFiles, findings: Findings) {
  const found = runs.flatMap((run) => {
    const source = isObject(run['data_source']) ? run['data_source'] : {}
    const sampling = isObject(source['sampling_params']) ? source['sampling_params'] : {}
    const format = sampling['response_format'] ?? (isObject(sampling['text']) ? sampling['text'] : undefined)
    return format == null ? [] : [format]
  })
  if (new Set(found.map(canonicalJson)).size > 1)
    findings.add({
      severity: 'guess',
      code: 'many_formats',
      place: 'eval runs',
      message: 'The runs ask for different forms of answer; that of the first run is used.',
    })
  return readResponseFormat(found[0], 'eval run', findings)
}

function factsOf(object: Record<string, unknown> | undefined): Record<string, unknown> {
  const kept = [
    'id',
    'object',
    'name',
    'model',
    'status',
    'created_at',
    'eval_id',
    'result_counts',
    'per_testing_criteria_results',
    'metadata',
  ]
  const source = isObject(object?.['data_source']) ? object['data_source'] : {}
  return {
    ...Object.fromEntries(kept.flatMap((name) => (object?.[name] == null ? [] : [[name, object[name]]]))),
    ...(source['sampling_params'] == null ? {} : { sampling_params: source['sampling_params'] }),
  }
}
