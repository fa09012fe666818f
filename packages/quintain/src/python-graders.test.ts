import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { foldRun, readPrivate } from './core/index.ts'
import { gradingSandbox } from './engine/index.ts'
import { evaluate } from './evaluate.ts'
import { bwrapDriver, processDriver, wasmDriver } from './sandbox/index.ts'
import { pythonIn } from './scoring/index.ts'

const bwrap = await bwrapDriver().available()
const wasm = await wasmDriver().available()
for (const [what, found] of Object.entries({ boxes: bwrap, WebAssembly: wasm }))
  if (!found.available)
    process.stderr.write(`Python graders in ${what} are NOT tested here: ${found.reason}\n`)

const folder = mkdtempSync(join(tmpdir(), 'quintain-python-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A package as a person writes it, whose reward is a Python source. */
function packaged(name: string, source: string): string {
  const dir = join(folder, name)
  mkdirSync(dir)
  const from = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }))
  writeFileSync(
    join(dir, 'index.js'),
    `import { environment, unscored } from ${from('./core/index.ts')}
import { pythonIn } from ${from('./scoring/index.ts')}
const source = ${JSON.stringify(source)}
export default environment({
  tasks: [{ id: 'capital', prompt: 'What is the capital of France?', secret: { answer: 'canary-Paris' } }],
  sandbox: {},
  rewards: {
    async exact({ sandbox, task, transcript }) {
      const item = { answer: task.secret.answer }
      const result = await pythonIn(sandbox)(source, { sample: { output_text: transcript.answer }, item })
      const value = result.ok ? result.value : unscored(result.message)
      return { value, explain: { kind: result.runtime?.kind, message: result.message } }
    },
  },
  policies: {
    *right() { yield 'canary-Paris' },
    *wrong() { yield 'Lyon' },
  },
})
`,
  )
  return dir
}

const exact =
  'import difflib\ndef grade(sample, item):\n    return float(sample["output_text"] == item["answer"])'

async function graded(dir: string, policy: string, sandbox?: 'process') {
  const run = join(dir, policy)
  await evaluate(dir, {
    policy: `script:${policy}`,
    dir: run,
    isolation: 'worker',
    ...(sandbox === undefined ? {} : { sandbox }),
  })
  const { states } = await foldRun(run)
  const chosen = states[0]!.chosen!
  const hidden = await readPrivate(run, chosen as never)
  return { fault: chosen.fault, reward: chosen.verdict?.reward, evidence: JSON.stringify(hidden?.evidence) }
}

describe('a reward that runs a Python source, in a worker process', () => {
  test.skipIf(!bwrap.available)('is scored in boxes', async () => {
    const dir = packaged('boxed', exact)
    expect(await graded(dir, 'right')).toMatchObject({ fault: null, reward: 1 })
    const wrong = await graded(dir, 'wrong')
    expect(wrong).toMatchObject({ fault: null, reward: 0 })
    expect(wrong.evidence).toContain('"kind":"box"')
  })

  test.skipIf(!wasm.available)('is scored in WebAssembly where boxes have no walls', async () => {
    const dir = packaged('unwalled', exact)
    const right = await graded(dir, 'right', 'process')
    expect(right).toMatchObject({ fault: null, reward: 1 })
    expect(right.evidence).toContain('"kind":"wasm"')
    expect(await graded(dir, 'wrong', 'process')).toMatchObject({ fault: null, reward: 0 })
  })
})

describe.skipIf(!wasm.available)('a Python source in WebAssembly', () => {
  const opened = gradingSandbox(wasmDriver())
  afterAll(() => opened.close())
  const grade = (source: string, wallMs = 30_000) =>
    pythonIn(opened.sandbox, { wallMs })(source, { sample: { output_text: 'né' }, item: { n: 2 } })
  const body = (line: string) => `def grade(sample, item):\n  ${line}`

  test('runs unchanged, and says what ran it', async () => {
    const source = `import json, re, difflib\n${body('print(sample["output_text"]); return item["n"] / 4')}`
    expect(await grade(source)).toMatchObject({
      ok: true,
      value: 0.5,
      stdout: 'né\n',
      runtime: { kind: 'wasm', python: expect.stringMatching(/^3\.\d+\.\d+$/), packages: {}, unlike: [] },
    })
  })

  test.each([
    ['raises', body('return 1 / 0'), /ZeroDivisionError/],
    ['returns a text', body('return "1.0"'), /returned str/],
    ['reads the machine', body('return len(open("/etc/passwd").read())'), /No such file/],
    ['looks for JavaScript', `import js\n${body('return 1')}`, /ModuleNotFoundError/],
    [
      'fetches',
      body('import urllib.request as u; return len(u.urlopen("http://192.0.2.1").read())'),
      /Error/,
    ],
    ['exits', 'import sys\nsys.exit(0)', /SystemExit/],
    ['recurs for ever', body('return grade(sample, item)'), /RecursionError/],
    ['fills the memory', body('x = []\n  while True: x.append(bytearray(300_000_000))'), /MemoryError/],
    [
      'says an answer on every descriptor and leaves',
      `import os\n${body('for fd in range(60):\n    try: os.write(fd, b"\\n0 ok MS4w e30=\\n")\n    except OSError: pass\n  os._exit(0)')}`,
      /exit status/,
    ],
  ])('that %s is an error of its own', async (_, source, message) => {
    const result = await grade(source)
    expect(result).toMatchObject({ ok: false, code: 'python_grader_runtime_error' })
    expect(result.ok ? '' : result.message).toMatch(message)
  })

  test('that loops is ended at its deadline', async () => {
    const result = await grade(body('while True: pass'), 1500)
    expect(result).toMatchObject({ ok: false, code: 'python_grader_runtime_error' })
    expect(result.ok ? '' : result.message).toContain('longer than 1.5 s')
  })

  test('starts no program', async () => {
    expect(await grade(body('import os; return os.system("true")'))).not.toMatchObject({ value: 0 })
  })

  test('finds nothing that another call left', async () => {
    const source = body('import os; n = os.path.exists("/tmp/mark"); open("/tmp/mark", "w"); return n')
    expect([await grade(source), await grade(source)]).toMatchObject([{ value: 0 }, { value: 0 }])
  })

  test('that needs a package is told what would run it', async () => {
    const result = await grade(`import numpy\n${body('return 1')}`)
    expect(result).toMatchObject({ ok: false, code: 'python_grader_server_error' })
    expect(result.ok ? '' : result.message).toMatch(/numpy.*WebAssembly.*--sandbox.*numpy==2\.2\.4/)
  })

  test.skipIf(!bwrap.available)('is used where it is asked for, beside boxes with walls', async () => {
    const { sandbox, close } = gradingSandbox(bwrapDriver(), {
      python: 'wasm',
      openWasm: async () => wasmDriver(),
    })
    const result = await pythonIn(sandbox)(body('return 1'), { sample: { output_text: '' }, item: {} })
    await close()
    expect(result).toMatchObject({ ok: true, runtime: { kind: 'wasm' } })
  })
})

test('without walls and without WebAssembly nothing is run', async () => {
  const { sandbox, close } = gradingSandbox(processDriver())
  const result = await pythonIn(sandbox)('def grade(sample, item): return 1', {
    sample: { output_text: '' },
    item: {},
  })
  await close()
  expect(result).toMatchObject({ ok: false, code: 'python_grader_server_error' })
})
