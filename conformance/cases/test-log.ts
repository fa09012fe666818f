import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  daysIn,
  findTest,
  parseTestLog,
  patchText,
  relativeDaysIn,
  resolveTests,
  type TestLog,
  type TestLogDialect,
  type TestStatus,
  testLogDialects,
  testStatusOf,
} from '../../packages/quintain/src/scoring/index.ts'
import type { Ops } from './runner/case.ts'

type Words = Record<string, string>

/** Statuses in the words of the cases, which are pytest's. */
const wordOf: Record<TestStatus, string> = {
  passed: 'PASSED',
  failed: 'FAILED',
  error: 'ERROR',
  skipped: 'SKIPPED',
  xfailed: 'XFAIL',
  xpassed: 'XPASS',
}

function statuses(words: unknown): Map<string, TestStatus> {
  return new Map(
    Object.entries((words ?? {}) as Words).flatMap(([name, word]) => {
      const status = testStatusOf(word)
      return status === undefined ? [] : [[name, status] as const]
    }),
  )
}

function dialectOf(name: unknown): TestLogDialect | undefined {
  return testLogDialects.find((known) => String(name).toLowerCase().startsWith(known))
}

/** A log whose dialect the case leaves open is read in each; the one that finds most in it is the one that it is in. */
function readAny(text: string, dialect: unknown): TestLog {
  const known = dialectOf(dialect)
  const logs = (known === undefined ? testLogDialects : [known]).map((name) => parseTestLog(text, name))
  return logs.reduce((best, log) => (weight(log) > weight(best) ? log : best))
}

const weight = ({ tests, declared }: TestLog): number => tests.size * 1000 + (declared === undefined ? 0 : 1)

/** The file that a patch is for, as its first hunk says: what stands in it before. */
function before(patch: string): { file: string; text: string } {
  const lines = patch.split('\n')
  const old = lines.find((line) => line.startsWith('--- '))?.slice(4) ?? ''
  const start = Number(/^@@ -(\d+)/m.exec(patch)?.[1] ?? 1)
  const kept = lines
    .slice(lines.findIndex((line) => line.startsWith('@@')) + 1)
    .slice(0, -1)
    .filter((line) => /^(?:[ -]|$)/.test(line) && !line.startsWith('--- '))
    .map((line) => line.slice(1))
  const above = Array.from({ length: Math.max(0, start - 1) }, (_, i) => `line ${i}`)
  return { file: old.replace(/^a\//, '').trim(), text: [...above, ...kept, ''].join('\n') }
}

export const ops: Ops = {
  'testlog.parse': ({ dialect, log }) =>
    Object.fromEntries(
      [...readAny(String(log), dialect).tests].map(([name, status]) => [name, wordOf[status]]),
    ),

  'testlog.lookup': ({ expected, seen }) => {
    const { status } = findTest(String(expected), statuses(seen))
    return { status: status === 'missing' || status === 'ambiguous' ? status : wordOf[status] }
  },

  'testlog.resolve': ({ fail_to_pass, pass_to_pass, log, dialect, mode, exit_code }) => {
    const names = (words: unknown) => Object.keys((words ?? {}) as Words)
    const read = log === undefined ? undefined : readAny(String(log), dialect)
    const tests = new Map([...(read?.tests ?? []), ...statuses(fail_to_pass), ...statuses(pass_to_pass)])
    return resolveTests({
      failToPass: names(fail_to_pass),
      passToPass: names(pass_to_pass),
      log: { ...read, tests },
      ...(mode === 'fail_only' ? { mode } : {}),
      ...(exit_code === undefined ? {} : { exitCode: exit_code as number | null }),
    })
  },

  /** By git itself, after what our side does to a patch. */
  'patch.apply': ({ patch }) => {
    const text = patchText(String(patch))
    if (text === null) return { applied: false }
    const folder = mkdtempSync(join(tmpdir(), 'quintain-patch-'))
    try {
      const { file, text: content } = before(text)
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      if (file !== '/dev/null') writeFileSync(join(folder, file), content)
      const { status } = spawnSync('git', ['apply', '-'], { cwd: folder, input: text })
      return { applied: status === 0 }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },

  'task.clock': ({ reference_date, prompt, booked }) => {
    const reference = String(reference_date)
    const [wanted] = relativeDaysIn(String(prompt), reference)
    const [given] = [...daysIn(String(booked)), ...relativeDaysIn(String(booked), reference)]
    return { correct: wanted !== undefined && given?.date === wanted.date }
  },
}
