// Writes games.jsonl, byte for byte as it is: node environments/higher-lower/training/make-games.ts
import { writeFileSync } from 'node:fs'
import { teacherGames } from '../src/teacher-games.ts'

const lines = teacherGames({ games: 1_000, seed: 'games' })
writeFileSync(new URL('games.jsonl', import.meta.url), `${lines.join('\n')}\n`)
