const oracle = 'script:oracle'

/**
 * That the trajectories of a run, or of an attempt, are solutions, in a sentence; undefined where no seat was the oracle's.
 * It alone is given the secret to say it. A seat's own script is given it too, and says of it what the agent may know.
 */
export function solutionsNote(seats: Readonly<Record<string, { policy: string }>>): string | undefined {
  if (!Object.values(seats).some(({ policy }) => policy === oracle)) return undefined
  return `${oracle} was given the secret, and what it says is the solution: not for publishing.`
}
