import { join } from 'node:path'
import { hostile } from '../ors/hostile.ts'

const environments = join(import.meta.dirname, '../../environments')

/** What is trained on, by name: an environment of a single answer, one of turns, one of tools, and one that breaks. */
export const played: Readonly<Record<string, string | typeof hostile>> = {
  gsm8k: join(environments, 'gsm8k'),
  wordle: join(environments, 'wordle'),
  orders: join(environments, 'orders'),
  hostile,
}

/** Those that are played when nobody names any: a step on the long episodes of `orders` takes minutes and gigabytes. */
export const usual: readonly string[] = ['hostile', 'gsm8k', 'wordle']
