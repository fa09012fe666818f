import type { Grader, GraderErrorCode } from './grader.ts'
import { parseFormula } from './score-formula.ts'
import { parseTemplate } from './template.ts'

/** What keeps a grader from ever running. */
export interface GraderProblem {
  code: Extract<GraderErrorCode, 'formula_parse_error' | 'invalid_variable_error'>
  /** Which grader. */
  grader: string
  message: string
  /** The name that is not there. */
  name?: string
  /** Position in the formula, from zero. */
  at?: number
}

/** Looks at formulas and templates before anything is run; an empty list for a grader that can. */
export function validateGrader(grader: Grader): GraderProblem[] {
  if (grader.type === 'multi') {
    const parts = Object.entries(grader.graders).flatMap(([name, part]) =>
      validateGrader(part).map((problem) => ({ ...problem, grader: name })),
    )
    return [...formulaProblems(grader.name, grader.calculateOutput, Object.keys(grader.graders)), ...parts]
  }
  return templatesOf(grader).flatMap((template): GraderProblem[] => {
    const reading = parseTemplate(template)
    return reading.ok
      ? []
      : [{ code: 'invalid_variable_error', grader: grader.name, message: reading.message }]
  })
}

/** What is wrong with a formula over graders of these names. */
export function formulaProblems(grader: string, formula: string, names: readonly string[]): GraderProblem[] {
  const reading = parseFormula(formula)
  if (!reading.ok) return [{ code: 'formula_parse_error', grader, message: reading.message, at: reading.at }]
  return reading.names
    .filter((name) => !names.includes(name))
    .map((name) => ({
      code: 'invalid_variable_error',
      grader,
      name,
      message: `the formula names "${name}", and there is no such grader; there are ${names.join(', ')}`,
    }))
}

/** The texts of a grader in which fields may stand. */
export function templatesOf(grader: Grader): string[] {
  switch (grader.type) {
    case 'string_check':
    case 'text_similarity':
      return [grader.input, grader.reference]
    case 'score_model':
    case 'label_model':
      return grader.input.flatMap(({ content }) =>
        content.map((part) =>
          part.type === 'text' ? part.text : part.type === 'image' ? part.url : part.data,
        ),
      )
    case 'python':
      return []
    case 'multi':
      return Object.values(grader.graders).flatMap(templatesOf)
  }
}
