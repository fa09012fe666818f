import { QuintainError } from '../../core/index.ts'

/** The platforms that a grader can be written for. */
export type GraderTarget = 'openai' | 'runrl' | 'bedrock'

/** Refuses to write a grader for a platform that cannot run it as it is. Code `export_refused`; the message says why. */
export function inexpressible(target: GraderTarget, grader: string, why: string): QuintainError {
  return new QuintainError(
    'export_refused',
    `The grader "${grader}" cannot be written for ${names[target]}: ${why}. Nothing was written.`,
    { facts: { target, grader } },
  )
}

const names: Record<GraderTarget, string> = {
  openai: 'OpenAI',
  runrl: 'RunRL',
  bedrock: 'Amazon Bedrock',
}
