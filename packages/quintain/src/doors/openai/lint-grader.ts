import {
  type Formula,
  type Grader,
  parseFormula,
  parseTemplate,
  templatesOf,
  validateGrader,
} from '../../scoring/index.ts'
import type { Findings } from './findings.ts'
import { foreignImports } from './foreign-imports.ts'
import { type Range, rangeOfFormula } from './formula-range.ts'
import { listedShutdown } from './retired-models.ts'

export type LeafGrader = Exclude<Grader, { type: 'multi' }>

/** The graders that read a sample: of a multi its parts, by the names of the formula. */
export function leavesOf(grader: Grader): [string, LeafGrader][] {
  return grader.type === 'multi' ? Object.entries(grader.graders) : [[grader.name, grader]]
}

/** Looks at a grader without running it. */
export function lintGrader(grader: Grader, findings: Findings, hosted: 'rft' | 'evals'): void {
  const place = `grader ${grader.name}`
  for (const { code, grader: name, message, at } of validateGrader(grader))
    findings.add({
      severity: 'error',
      code,
      place: `grader ${name}`,
      message: `${message}${at === undefined ? '' : `, at character ${at + 1} of the formula`}.`,
    })
  if (hosted === 'rft' && grader.type === 'label_model')
    findings.add({
      severity: 'warning',
      code: 'label_model_alone',
      place,
      message: 'The vendor takes label_model within a multi and in evals, and not alone; it runs here.',
    })
  for (const [name, leaf] of leavesOf(grader)) lintLeaf(name, leaf, findings)
  if (grader.type !== 'multi') return
  const reading = parseFormula(grader.calculateOutput)
  if (!reading.ok) return
  const unused = Object.keys(grader.graders).filter((name) => !reading.names.includes(name))
  for (const name of unused)
    findings.add({
      severity: 'warning',
      code: 'unused_grader',
      place,
      message: `The formula does not name ${name}: it runs and counts for nothing.`,
    })
  if (dividesByZero(reading.formula)) {
    findings.add({
      severity: 'error',
      code: 'formula_without_score',
      place,
      message: 'Its formula divides by 0 whatever the graders say: no answer would get a score.',
    })
    return
  }
  const [low, high] = rangeOfFormula(
    reading.formula,
    Object.fromEntries(leavesOf(grader).map(([name, leaf]) => [name, scoreRange(leaf)])),
  )
  if (low < 0 || high > 1)
    findings.add({
      severity: 'warning',
      code: 'out_of_range',
      place,
      message: `Its formula can come to anything from ${rounded(low)} to ${rounded(high)}, and scores are mostly 0 to 1.`,
    })
}

/** Whether some divisor of a formula is nothing but 0. Whether one may come to 0 is in its range. */
function dividesByZero(formula: Formula): boolean {
  switch (formula.kind) {
    case 'minus':
      return dividesByZero(formula.item)
    case 'call':
      return formula.args.some(dividesByZero)
    case 'operation': {
      const [low, high] = rangeOfFormula(formula.right, {})
      return (
        (formula.sign === '/' && low === 0 && high === 0) ||
        dividesByZero(formula.left) ||
        dividesByZero(formula.right)
      )
    }
    default:
      return false
  }
}

/** What a grader can give. A Python source can give any number; most give 0 to 1, which is what is assumed. */
function scoreRange(leaf: LeafGrader): Range {
  return leaf.type === 'score_model' ? leaf.range : [0, 1]
}

function rounded(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toFixed(4))) : value < 0 ? 'minus infinity' : 'infinity'
}

function lintLeaf(name: string, leaf: LeafGrader, findings: Findings): void {
  const place = `grader ${name}`
  const warn = (code: string, message: string) => findings.add({ severity: 'warning', code, place, message })
  if (leaf.type === 'python') lintPython(leaf.source, warn)
  if (leaf.type === 'string_check') {
    if (leaf.operation === 'like' || leaf.operation === 'ilike')
      warn(
        'substring',
        `${leaf.operation} passes every answer that contains the reference: one that lists all candidates passes too. Ask for one answer, or compare with eq.`,
      )
    if (leaf.reference === '' && leaf.operation !== 'ne')
      warn('empty_reference', 'Its reference is empty: saying nothing passes.')
    if (leaf.operation === 'ne') warn('unequal', 'ne passes every answer but one, silence too.')
  }
  if (leaf.type === 'text_similarity' && leaf.metric === 'cosine')
    warn(
      'needs_embeddings',
      'cosine needs a model of embeddings, which the vendor chose and does not name; its scores cannot be the same with another.',
    )
  if (leaf.type !== 'score_model' && leaf.type !== 'label_model') return
  const day = listedShutdown(leaf.model)
  if (day !== undefined)
    warn(
      'retired_judge',
      `Its model ${leaf.model} is listed to shut down on ${day}. Another model is another judge: compare the two on saved outputs before you trust it.`,
    )
  if (templatesOf(leaf).some((text) => namesOutput(text)))
    warn(
      'judge_injection',
      'What the agent says stands in the prompt of the judge, and can talk to it. Try answers that ask for the highest score.',
    )
  if (leaf.type === 'score_model' && (leaf.range[0] !== 0 || leaf.range[1] !== 1))
    warn(
      'out_of_range',
      `Its scores lie between ${leaf.range[0]} and ${leaf.range[1]}, and not between 0 and 1.`,
    )
}

function namesOutput(text: string): boolean {
  const reading = parseTemplate(text)
  return reading.ok && reading.parts.some((part) => 'path' in part && part.path[0] === 'sample')
}

function lintPython(source: string, warn: (code: string, message: string) => void): void {
  if (!/^\s*(?:async\s+)?def\s+grade\s*\(/m.test(source) && !/\bgrade\s*=/.test(source))
    warn('no_grade', 'The source defines no function grade(sample, item): nothing will be graded.')
  const packages = foreignImports(source)
  if (packages.length > 0)
    warn(
      'foreign_import',
      `It imports ${packages.join(', ')}, which neither Python nor the vendor's image 2025-05-08 has (as far as is known); the import will fail there as here.`,
    )
  if (
    /except\s*(?:Exception\b[^\n]*|BaseException\b[^\n]*)?:\s*(?:#[^\n]*)?\n?\s*return\s+0(?:\.0*)?\s*$/m.test(
      source,
    )
  )
    warn(
      'swallows_errors',
      'It returns 0 when it fails: its own faults look like bad answers. Let it raise, and they are told apart.',
    )
}
