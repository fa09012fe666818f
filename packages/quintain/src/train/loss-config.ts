import { didYouMean, QuintainError } from '../core/index.ts'

/** A number of a loss: what it is when not given (`required` when it must be), and between which values it lies. */
export interface LossNumber {
  default: number | 'required' | 'off'
  least: number
  most: number
}

/** The numbers of a loss by name. */
export type LossNumbers = Readonly<Record<string, LossNumber>>

/**
 * The numbers of a loss with its defaults; those that are off are left out. Throws `options_invalid` for names that the loss
 * does not know, numbers out of range and such as are missing.
 */
export function lossConfig(
  loss: string,
  numbers: LossNumbers,
  given: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const config: Record<string, number> = {}
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(numbers, name)) continue
    const known = Object.keys(numbers)
    throw refuse(
      `has no number "${name}"${didYouMean(name, known)} It knows ${known.length === 0 ? 'none' : known.join(', ')}.`,
      { name, known },
    )
  }
  for (const [name, { default: otherwise, least, most }] of Object.entries(numbers)) {
    const value = given[name] ?? otherwise
    if (value === 'off') continue
    if (value === 'required') throw refuse(`needs the number "${name}".`, { name })
    if (!(value >= least && value <= most)) {
      throw refuse(`has ${name} ${value}, which must lie from ${least} to ${most}.`, { name, value })
    }
    config[name] = value
  }
  return config

  function refuse(what: string, facts: Record<string, unknown>): QuintainError {
    return new QuintainError('options_invalid', `The loss ${loss} ${what}`, { facts: { loss, ...facts } })
  }
}
