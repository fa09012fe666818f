import type { Fault, FaultOwner } from '../../core/index.ts'

const owners: [RegExp, FaultOwner][] = [
  [/judge/i, 'judge'],
  [/sandbox|runtime|docker|container/i, 'sandbox'],
  [/provider|model|prompt|api|rate|connection|http/i, 'provider'],
  [/interception|tunnel|gateway|proxy/i, 'gateway'],
  [/rubric|scor|reward|grad/i, 'grader'],
  [/env|task|tool|world/i, 'world'],
]

/** Nothing but the name of a class of errors, so that no word of a message is taken for one. */
const exceptionName = /^[A-Za-z_][\w.]{0,60}(?:Error|Exception|Timeout|Interrupt|Exit|Failure)\b/

/**
 * An error of another platform's run as a fault. Only its type is told: its message may quote anything, so that stays in
 * the private records. Whose it is, is as its type suggests.
 */
export function foreignFault(type: unknown): Fault {
  const name = typeof type === 'string' ? (exceptionName.exec(type)?.[0] ?? '') : ''
  const owner = owners.find(([pattern]) => pattern.test(name))?.[1] ?? 'platform'
  return {
    owner,
    stage: 'import',
    code: 'original_error',
    message: `The original run ended in an error${name === '' ? '' : ` (${name})`}; it has no score.`,
    retryable: false,
  }
}
