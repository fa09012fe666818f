// npm run cases -- FILE…   Runs case files through the product and says of each case whether it passes.
import { existsSync, readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readJsonlFile } from '../../packages/quintain/src/core/jsonl.ts'
import { parseCase } from './runner/case.ts'
import { CaseProcess } from './runner/case-process.ts'

const limitMs = 60_000
const here = fileURLToPath(new URL('.', import.meta.url))

/** Prints one line a case, then the counts. Returns the exit code. */
export async function main(files: readonly string[], options: { folder?: string } = {}): Promise<number> {
  const counts = { pass: 0, fail: 0, skipped: 0 }
  const say = (name: string, status: keyof typeof counts, detail = '') => {
    counts[status] += 1
    process.stdout.write(`${name} ${status}${detail === '' ? '' : `  ${detail.replace(/\s*\n\s*/g, ' ')}`}\n`)
  }
  const cases = new CaseProcess({ folder: options.folder ?? here, limitMs })
  try {
    for (const { file, reason } of await cases.start()) say(file, 'fail', reason)
    for (const file of files) {
      const place = (line: number) => `${relative(process.cwd(), file) || file}:${line + 1}`
      const lines = readJsonlFile(file, {
        parse: (text) => ({ text, id: parseCase(text).id }),
        onIssue: ({ kind, line, message }) => {
          if (kind !== 'nul_padding') say(place(line), 'fail', message)
        },
      })
      for await (const { value } of lines) {
        const { text, id } = value as { text: string; id: string }
        const verdict = await cases.run(text)
        say(id, verdict.status, verdict.status === 'fail' ? verdict.detail : '')
      }
    }
  } finally {
    cases.stop()
  }
  process.stdout.write(`${counts.pass} passed, ${counts.fail} failed, ${counts.skipped} skipped\n`)
  return counts.fail === 0 ? 0 : 1
}

function defaultFiles(): string[] {
  const folder = resolve(here, '../../../shared/field-cases')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(folder, name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2).filter((argument) => argument !== '--')
  const files =
    given.length > 0 ? given.map((file) => resolve(process.env['INIT_CWD'] ?? '.', file)) : defaultFiles()
  const missing = files.filter((file) => !existsSync(file))
  if (files.length === 0 || missing.length > 0) {
    process.stderr.write(
      missing.length > 0
        ? `There is no case file ${missing.join(', ')}.\n`
        : 'No case file was named, and there is no folder ../shared/field-cases. Usage: npm run cases -- FILE…\n',
    )
    process.exitCode = 2
  } else {
    process.exitCode = await main(files)
  }
}
