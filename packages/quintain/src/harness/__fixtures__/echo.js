// Says its arguments and the last of what it was told.
import { readFileSync } from 'node:fs'

const told = JSON.parse(readFileSync(process.env.QUINTAIN_TASK_FILE, 'utf8'))
console.log(`${process.argv.slice(2).join(' ')}: ${told.input}`)
