import type { GameState } from './game.ts'

/** What a reward looks at. */
export interface Played {
  game: GameState
  secret: string
  /** Texts of the agent's messages, in order. */
  messages: readonly string[]
  /** The most that a lost game earns under `default`. */
  partial: number
  /** What a win earns under `default` for each guess that was not needed; nothing when absent. */
  bonus?: number
  maxGuesses?: number
}

/** A way to write guesses, to treat invalid ones, and to pay. */
export interface Profile {
  /** How the system message asks for a guess. */
  format: string
  /** A message that makes a guess, as a scripted policy writes it. */
  say(word: string): string
  /** The guess in the agent's messages so far, in lower case; undefined when there is none. */
  read(messages: readonly string[]): string | undefined
  /** Whether an invalid guess is free and a second one in a row ends the game; otherwise it uses up a guess. */
  forgives: boolean
  reward(played: Played): number
}

const count = (marks: string, mark: 'G' | 'Y') => marks.split(mark).length - 1

/** Places of the secret that some guess has filled. It only grows, whatever the agent does next. */
export function placed(game: GameState): number {
  const { guesses } = game
  const letters = guesses[0]?.marks.length ?? 0
  let places = 0
  for (let i = 0; i < letters; i++) if (guesses.some(({ marks }) => marks[i] === 'G')) places++
  return places
}

/** TextArena's way: the first bracketed word, or the whole message where it has no brackets. */
function firstBracketed(text: string): string | undefined {
  const whole = /[[\]]/.test(text) ? text : `[${text}]`
  return /\[([\p{L}\p{N}_]+)\]/u.exec(whole)?.[1]?.toLowerCase()
}

function lastBracketed(text: string): string | undefined {
  const whole = /[[\]]/.test(text) ? text : `[${text.trim()}]`
  return [...whole.matchAll(/\[\s*(\p{L}+)\s*\]/gu)].at(-1)?.[1]?.toLowerCase()
}

/** Text of the first `<name>` element, trimmed. Searched without a pattern, whose time a long message could blow up. */
function tagged(text: string, name: string): string | undefined {
  const start = text.indexOf(`<${name}>`)
  const from = start + name.length + 2
  const end = start < 0 ? -1 : text.indexOf(`</${name}>`, from)
  return end < 0 ? undefined : text.slice(from, end).trim()
}

/** The latest guess element, even when the last message has none. */
function lastGuess(messages: readonly string[]): string | undefined {
  for (let i = messages.length - 1; i >= 0; i--) {
    const guess = tagged(messages[i]!, 'guess')
    if (guess !== undefined) return guess
  }
  return undefined
}

/** TextArena pays a finished game by its *last* accepted guess, and nothing for a game that was left. */
function textArenaReward({ game, secret }: Played): number {
  if (game.end === 'won') return 1
  const marks = game.end === 'open' ? '' : (game.guesses.at(-1)?.marks ?? '')
  return (count(marks, 'G') + 0.5 * count(marks, 'Y')) / secret.length
}

/** Share of the v0 format that one message keeps: both elements, nothing before the first or after the second. */
function formatScore(text: string): number {
  const has = (name: string) => text.includes(`<${name}>`) || text.includes(`</${name}>`)
  const whole = tagged(text, 'think') !== undefined || tagged(text, 'guess') !== undefined
  const named = Number(has('think')) + Number(has('guess'))
  const bare = text.trim()
  // The 0.2 is for "spacing", a check of upstream that no message can fail.
  return (
    (whole ? 0.2 * named : 0) +
    0.2 +
    (bare.startsWith('<think>') ? 0.2 : 0) +
    (bare.endsWith('</guess>') ? 0.2 : 0)
  )
}

function verifiersV0Reward({ game, secret, messages }: Played): number {
  if (messages.length === 0) return 0
  // Upstream compares with the brackets on: a win by `<guess>crane</guess>` is no right answer.
  const right = lastGuess(messages) === `[${secret}]` ? 1 : 0
  // A win brings no feedback, so the last one is that of the guess before. Where there is none at all, upstream reads
  // the second line of the rules instead, whose one capital Y counts as a yellow; an unanswered agent gets nothing.
  const answered = game.guesses.length + game.invalid > 0
  const feedback = game.guesses.findLast(({ marks }) => /[XY]/.test(marks))
  const marks = feedback?.marks ?? (answered ? 'Y' : '')
  const format = messages.reduce((sum, text) => sum + formatScore(text), 0) / messages.length
  return (
    right + 0.2 * count(marks, 'G') + 0.1 * count(marks, 'Y') + right / (messages.length + 1) + 0.2 * format
  )
}

const bracketFormat =
  'Think step by step first, then make your guess as the only word in square brackets of your reply, as in [crane].'
const say = (word: string) => `[${word}]`

export const profiles = {
  default: {
    format: 'Think as you like; the last word in square brackets of your reply is your guess, as in [crane].',
    say,
    read: (messages) => lastBracketed(messages.at(-1) ?? ''),
    forgives: false,
    // Grows with every guess that fills a new place and never falls, so stopping early never pays more than playing on.
    reward: ({ game, secret, partial, bonus = 0, maxGuesses = 0 }) =>
      game.end === 'won'
        ? 1 + bonus * Math.max(0, maxGuesses - game.guesses.length - game.invalid)
        : (partial * placed(game)) / secret.length,
  },
  textarena: {
    format: bracketFormat,
    say,
    read: (messages) => firstBracketed(messages.at(-1) ?? ''),
    forgives: true,
    reward: textArenaReward,
  },
  'verifiers-v0': {
    format:
      'In each turn think inside <think>...</think>, then make your guess inside <guess>...</guess> and in square ' +
      'brackets, as in <guess>[crane]</guess>.',
    say: (word) => `<think></think>\n<guess>[${word}]</guess>`,
    read: (messages) => firstBracketed(lastGuess(messages) ?? 'None'),
    forgives: true,
    reward: verifiersV0Reward,
  },
  'verifiers-v1': {
    format: bracketFormat,
    say,
    read: (messages) => firstBracketed(messages.at(-1) ?? ''),
    forgives: true,
    reward: textArenaReward,
  },
} satisfies Record<string, Profile>
