/** What of an episode may be lost on its way through a protocol, by a short name for tables. */
export type LossName =
  /** Text that a model writes beside its tool calls does not arrive. */
  | 'text beside calls'
  /** Each call counts as a turn. */
  | 'calls are turns'
  /** An episode that the client ends has no score. */
  | 'no score when ended early'
  /** Arguments that are no JSON object cannot be sent. */
  | 'arguments that are no object'
  /** The protocol itself answers calls of tools that there are not, and the environment never hears of them. */
  | 'calls of unknown tools'
  /** How the engine cut the agent off (tokens, money, a refusal) is not known: it counts as done. */
  | 'how the agent was cut'

/** Something that a door loses of an environment, declared before it is met. */
export interface Loss {
  /** Where an episode can be another one for it: what `quintain parity` knows it by. */
  name?: LossName
  /** A sentence. */
  says: string
}

export const textBesideCalls: Loss = {
  name: 'text beside calls',
  says: 'What a model writes beside its tool calls never arrives.',
}

export const callsAreTurns: Loss = {
  name: 'calls are turns',
  says: 'Every call counts as a turn, since the calls of one reply cannot be told from those of several.',
}

export const objectsAlone: Loss = {
  name: 'arguments that are no object',
  says: 'Arguments of a call that are no JSON object cannot be sent.',
}

export const noGroupRewards: Loss = { says: 'Group rewards are not given.' }
