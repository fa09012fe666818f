/** The two environments of the bench: one that answers what is said, and one of a tool. */
export type Kind = 'wordle' | 'counter'

/** Calls of the counter until its episode ends. */
export const callsToGo = 20

/** Six words that the game knows; with the last of them an episode is over, if not before. */
export const guesses = ['slate', 'brine', 'crate', 'craze', 'grace', 'trace'] as const
