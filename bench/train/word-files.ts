import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { options } from '../../environments/wordle/src/options.ts'
import { teacherGames } from '../../environments/wordle/src/teacher-games.ts'
import { wordsOf } from '../../environments/wordle/src/words.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join('runs', 'word-games')

/** From the root of the repository. */
export const wordFiles = { games: join(folder, 'games.jsonl'), vocabulary: join(folder, 'vocabulary.json') }

/**
 * 2,000 games of real words by the teacher that never looks at yellow, and the tokens to play them: the 26 letters, and each with each
 * mark. The teacher guesses common words alone, those of the test among them; it never has one of the test to find.
 */
export function writeWordFiles(): void {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const marked = letters.flatMap((letter) => [...'GYX'].map((mark) => letter + mark))
  const { secrets } = wordsOf(5)
  const common = { legal: secrets, secrets, isLegal: (word: string) => secrets.includes(word) }
  const lines = teacherGames({
    options: options.parse({ terse: true }),
    games: 2_000,
    seed: 'word-games',
    words: common,
  })
  const vocabulary = {
    schema: 'quintain.renderer',
    v: 1,
    vocabulary: [...letters, ...marked, '?'],
    omit: ['system', 'first_user'],
  }
  mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, wordFiles.games), `${lines.join('\n')}\n`)
  writeFileSync(join(root, wordFiles.vocabulary), `${JSON.stringify(vocabulary)}\n`)
}
