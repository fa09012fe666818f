// The process that carries out cases for `case-process.ts`; it is never imported.
import { parseCase } from './case.ts'
import type { Message, Verdict } from './case-process.ts'
import { compare, show } from './compare.ts'
import { loadOps } from './load-ops.ts'

const { ops, broken } = await loadOps(process.argv[2] ?? '')
let spoilt: ((reason: unknown) => void) | undefined
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (reason: unknown) => spoilt?.(reason))
}
process.on('message', (line) => {
  void judge(String(line)).then((verdict) => say({ verdict }))
})
// The process that started this one is gone: nobody reads verdicts any more.
process.on('disconnect', () => process.exit())
say({ ready: broken })

function say(message: Message): void {
  process.send?.(message)
}

async function judge(line: string): Promise<Verdict> {
  const { input, expected } = parseCase(line)
  if (!Object.hasOwn(ops, input.op)) return { status: 'skipped' }
  const start = performance.now()
  let value: unknown
  try {
    const failed = new Promise<never>((_resolve, reject) => {
      spoilt = reject
    })
    // An operation may change its input; the comparison must not see that.
    value = await Promise.race([(async () => ops[input.op]!(structuredClone(input)))(), failed])
  } catch (thrown) {
    const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown }
    if (typeof code !== 'string') return { status: 'fail', detail: `crashed: ${describe(thrown)}` }
    value = { error: code, message: String(message) }
  } finally {
    spoilt = undefined
  }
  const mismatches = compare(expected, { value, tookMs: performance.now() - start })
  if (mismatches.length === 0) return { status: 'pass' }
  const differences = mismatches.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return {
    status: 'fail',
    detail: `${differences.join('; ')} | came out: ${show(value, 2000)} | expected: ${show(expected, 2000)}`,
  }
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return show(thrown)
  const frames = (thrown.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [`${thrown.name}: ${thrown.message}`, ...frames.slice(0, 3)].join(' ')
}
