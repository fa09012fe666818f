// Writes code-games.jsonl, byte for byte as it is: node environments/wordle/training/make-games.ts
import { writeFileSync } from 'node:fs'
import { options } from '../src/options.ts'
import { codeGames } from '../src/teacher-games.ts'

const lines = codeGames(options.parse({ game: 'code' }))
writeFileSync(new URL('code-games.jsonl', import.meta.url), `${lines.join('\n')}\n`)
