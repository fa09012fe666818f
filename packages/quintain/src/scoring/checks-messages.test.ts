import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerLine, type Message, MessageReader } from './checks-messages.ts'
import { ReportReader } from './checks-report.ts'

const field = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))
const message = fc.oneof(
  fc.constant<Message>({ type: 'begin' }),
  field.map((number): Message => ({ type: 'passed', number })),
  field.map((name): Message => ({ type: 'failed', name })),
  fc.tuple(field, field).map(([number, clean]): Message => ({ type: 'end', number, clean })),
  fc
    .record({
      type: fc.constant('call' as const),
      kind: fc.constantFrom('run' as const, 'file' as const),
      cwd: field,
      stdin: fc.uint8Array(),
      args: fc.array(field),
    })
    .map((call): Message => call),
)

/** As the runner writes it. */
function written(said: Message): Buffer {
  const fields = {
    begin: () => [],
    passed: () => (said.type === 'passed' ? [said.number] : []),
    failed: () => (said.type === 'failed' ? [said.name] : []),
    end: () => (said.type === 'end' ? [said.number, said.clean] : []),
    call: () =>
      said.type === 'call'
        ? [said.kind, said.cwd, Buffer.from(said.stdin).toString('base64'), said.args.length, ...said.args]
        : [],
  }[said.type]()
  return Buffer.from([said.type, ...fields].map((text) => `${text}\0`).join(''))
}

describe('what the runner says', () => {
  const plain = (said: readonly Message[]) =>
    said.map((one) => (one.type === 'call' ? { ...one, stdin: [...one.stdin] } : one))

  test('is read the same however its bytes arrive', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat()), (messages, cuts) => {
        const bytes = Buffer.concat(messages.map(written))
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
        const reader = new MessageReader()
        const read = at.slice(1).flatMap((end, index) => reader.take(bytes.subarray(at[index], end)))
        expect(plain(read)).toEqual(plain(messages))
      }),
    )
  })

  test('may be anything, which then is nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        const reader = new MessageReader()
        const read = chunks.flatMap((chunk) => reader.take(chunk))
        expect(read.every(({ type }) => ['begin', 'passed', 'failed', 'end', 'call'].includes(type))).toBe(
          true,
        )
      }),
    )
  })
})

test('any bytes reach bash as they are', () => {
  const read = `IFS=' ' read -r status out err; LC_ALL=C; IFS= read -r -N "$out" out; IFS= read -r -N "$err" err
printf '%b' "\${out%.}"; printf '%b' "\${err%.}" >&2; exit "$status"`
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (out) => {
      const input = answerLine({ status: 0, out, err: new Uint8Array() })
      const back = execFileSync('bash', ['-c', read], { input, stdio: ['pipe', 'pipe', 'ignore'] })
      expect([...back]).toEqual([...out])
    }),
    {
      numRuns: 25,
      examples: [[Uint8Array.from({ length: 256 }, (_, byte) => byte)], [Buffer.from('\\0012\\c%s\n.')]],
    },
  )
})

describe('a report', () => {
  const numbersOf = (reader: ReportReader) => {
    const [end = '', clean = '', ...checks] = reader.numbers.split('\n')
    return {
      end,
      clean,
      checks: new Map(checks.filter(Boolean).map((line) => [line.slice(33), line.slice(0, 32)])),
    }
  }

  test('has passed what was said by its own number, and nothing else', () => {
    const reader = new ReportReader(['one', 'two words', 'three'])
    const { end, clean, checks } = numbersOf(reader)
    expect([...checks.keys()]).toEqual(['one', 'two words', 'three'])
    reader.take({ type: 'begin' })
    reader.take({ type: 'passed', number: checks.get('two words')! })
    reader.take({ type: 'passed', number: end })
    reader.take({ type: 'passed', number: '' })
    reader.take({ type: 'failed', name: 'three' })
    expect(reader.report()).toMatchObject({ ended: false, clean: false, passed: new Set(['two words']) })
    reader.take({ type: 'end', number: clean, clean: '' })
    expect(reader.report().ended).toBe(false)
    reader.take({ type: 'end', number: end, clean: '' })
    expect(reader.report()).toMatchObject({ ended: true, clean: false, failed: new Set(['three']) })
    reader.take({ type: 'end', number: end, clean })
    expect(reader.report()).toMatchObject({ ended: true, clean: true })
  })

  test('has failed what failed once, whatever else is said of it', () => {
    const reader = new ReportReader(['one'])
    const { end, clean, checks } = numbersOf(reader)
    const passed = { type: 'passed', number: checks.get('one')! } as const
    for (const message of [passed, { type: 'failed', name: 'one' } as const, passed]) reader.take(message)
    reader.take({ type: 'end', number: end, clean })
    expect(reader.report()).toMatchObject({ clean: true, passed: new Set(), failed: new Set(['one']) })
    reader.take({ type: 'failed', name: 'unexpected' })
    expect(reader.report().clean).toBe(false)
  })

  test('has other numbers each time', () => {
    const [one, two] = [new ReportReader(['a']), new ReportReader(['a'])].map(numbersOf)
    expect(
      new Set([one!.end, one!.clean, one!.checks.get('a'), two!.end, two!.clean, two!.checks.get('a')]).size,
    ).toBe(6)
  })
})
