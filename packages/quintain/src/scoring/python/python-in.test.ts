import { afterAll, describe, expect, test } from 'vitest'
import type { GradingSandbox } from '../../core/index.ts'
import { bwrapDriver, processDriver } from '../../sandbox/index.ts'
import { pythonIn } from './python-in.ts'

const driver = bwrapDriver()
const available = await driver.available()
if (!available.available)
  process.stderr.write(`python graders are NOT tested here: no boxes with walls (${available.reason})\n`)
afterAll(() => driver.close?.())

/** Boxes of a driver, each started when it is asked for. */
function boxesOf(from = driver): { sandbox: GradingSandbox; open: () => number } {
  let open = 0
  const sandbox: GradingSandbox = {
    artefacts: null,
    async start({ python, artefacts: _, ...options } = {}) {
      const box = await from.start(options)
      open++
      const over = new AbortController()
      const stop = async () => {
        open--
        await box.stop()
      }
      if (python === undefined || box.isolation === 'none') return { ...plainOf(box), stop }
      const ending = box.exec(['python3', ...python.arguments], { talk: python.talk, signal: over.signal })
      return {
        ...plainOf(box),
        stop,
        ended({ signal } = {}) {
          signal?.addEventListener('abort', () => over.abort(), { once: true })
          return ending
        },
      }
    },
  }
  return { sandbox, open: () => open }
}

function plainOf(box: Awaited<ReturnType<typeof driver.start>>) {
  const { id, driver: name, isolation, workdir } = box
  return {
    ...{ id, driver: name, isolation, workdir },
    exec: box.exec.bind(box),
    ...(box.talk === undefined ? {} : { talk: box.talk.bind(box) }),
    read: box.read.bind(box),
    write: box.write.bind(box),
    list: box.list.bind(box),
    snapshot: box.snapshot.bind(box),
    restore: box.restore.bind(box),
  }
}

const boxes = boxesOf()
const python = pythonIn(boxes.sandbox)
const grade = (source: string, item: Record<string, unknown> = {}, output = 'an answer') =>
  python(source, { sample: { output_text: output }, item })
const body = (line: string) => `def grade(sample, item):\n  ${line}`

describe.skipIf(!available.available)('a Python source', () => {
  test('runs unchanged, with the sample and the item as dictionaries, and its output beside its number', async () => {
    const source = `import json\nprint("loaded")\ndef grade(sample, item):\n    print(sample["output_text"])\n    return 0.25 * len(item["words"])\n`
    expect(await grade(source, { words: ['a', 'b', 'c'] })).toMatchObject({
      ok: true,
      value: 0.75,
      stdout: 'loaded\nan answer\n',
      runtime: { kind: 'box', packages: {}, unlike: [] },
    })
  })

  test('gets numbers and texts as they are', async () => {
    const source = body('print(ascii([sample["output_text"], item])); return item["big"] % 1000')
    const item = {
      big: 12345678901234567890n,
      nan: Number.NaN,
      zero: -0,
      low: Number.NEGATIVE_INFINITY,
      half: 0.1,
    }
    const result = await grade(source, item, 'a\ud800\0ü')
    expect(result).toMatchObject({ ok: true, value: 890 })
    expect(result.stdout.trim()).toBe(
      String.raw`['a\ud800\x00\xfc', {'big': 12345678901234567890, 'nan': nan, 'zero': -0.0, 'low': -inf, 'half': 0.1}]`,
    )
  })

  test.each([
    ['True', 1],
    ['7', 7],
    ['1e308', 1e308],
    ['__import__("fractions").Fraction(1, 4)', 0.25],
  ])('may return %s', async (value, number) => {
    expect(await grade(body(`return ${value}`))).toMatchObject({ ok: true, value: number })
  })

  test.each([
    ['raises', body('return 1 / 0'), /grader\.py.*ZeroDivisionError/s],
    ['returns a text', body('return "1.0"'), /returned str/],
    ['returns nothing', body('pass'), /returned NoneType/],
    ['returns NaN', body('return float("nan")'), /finite/],
    ['returns more than a float holds', body('return 10 ** 400'), /OverflowError/],
    ['recurs for ever', body('return grade(sample, item)'), /RecursionError/],
    ['does not parse', 'def grade(sample, item) return 1', /SyntaxError/],
    ['has no grade', 'x = 1', /no function grade/],
    ['exits', 'import sys\nsys.exit(0)', /SystemExit/],
    ['leaves at once', body('import os; os._exit(0)'), /exit status 0/],
    ['kills itself', body('import os; os.kill(os.getpid(), 9)'), /SIGKILL/],
    [
      'opens a socket',
      body('import socket; socket.create_connection(("192.0.2.1", 80), 1); return 1'),
      /Error/,
    ],
    ['fills the memory', body('x = []\n  while True: x.append(bytearray(50_000_000))'), /MemoryError/],
    [
      'fills the disk',
      body('f = open("/tmp/x", "wb")\n  while True: f.write(bytes(10_000_000))'),
      /No space left/,
    ],
    [
      'imports what the vendor has not either',
      'import nothing_such\ndef grade(s, i): return 1',
      /ModuleNotFoundError/,
    ],
    ['runs a sample that imports what is missing', body('exec("import rdkit")'), /ModuleNotFoundError/],
    [
      'runs a sample that says so of what is there',
      `import json\n${body('exec("raise ModuleNotFoundError(name=\'json\')")')}`,
      /ModuleNotFoundError/,
    ],
    [
      'says an answer on every descriptor and leaves',
      `import os\n${body('for fd in range(60):\n    try: os.write(fd, b"\\n0 ok MS4w e30=\\n")\n    except OSError: pass\n  os._exit(0)')}`,
      /exit status 0/,
    ],
    [
      'floods every descriptor',
      `import os\n${body('for fd in range(3, 60):\n    try:\n      while True: os.write(fd, b"x" * 100000)\n    except OSError: pass')}`,
      /channel/,
    ],
    [
      'takes the builtins away',
      `import builtins\nbuiltins.__dict__.clear()\n${body('raise x')}`,
      /NameError/,
    ],
  ])('that %s is an error of its own', async (_, source, message) => {
    const result = await grade(source)
    expect(result).toMatchObject({ ok: false, code: 'python_grader_runtime_error' })
    expect(result.ok ? '' : result.message).toMatch(message)
  })

  test.each([
    ['prints answers', body('print("\\n0 ok MS4w e30=\\n" * 100); return 0.5')],
    ['prints without end', body('for _ in range(100000): print("x" * 1000)\n  return 0.5')],
    [
      'leaves children',
      `import subprocess\n${body('subprocess.Popen(["sleep", "600"]); subprocess.Popen(["setsid", "sleep", "600"]); return 0.5')}`,
    ],
    [
      'leaves threads',
      `import threading, time\n${body('threading.Thread(target=lambda: time.sleep(600)).start(); return 0.5')}`,
    ],
    ['closes its output', `import sys\nsys.stdout.close()\n${body('return 0.5')}`],
    [
      'replaces what graders use',
      `import json, builtins\njson.dumps = json.loads = None\nfor n in ("str", "len", "float", "isinstance", "type"): setattr(builtins, n, None)\n${body('return 0.5')}`,
    ],
    [
      'forgets every module',
      `import sys\nfor k in list(sys.modules): del sys.modules[k]\n${body('return 0.5')}`,
    ],
  ])('that %s has its number all the same', async (_, source) => {
    const result = await grade(source)
    expect(result).toMatchObject({ ok: true, value: 0.5 })
    expect(result.stdout.length).toBeLessThan(70_000)
  })

  test.each([
    ['loops', body('while True: pass')],
    ['forks', `import os\n${body('while True:\n    try: os.fork()\n    except OSError: pass')}`],
    ['stops itself', `import os, signal\n${body('os.kill(os.getpid(), signal.SIGSTOP)')}`],
  ])('that %s is ended at its deadline', async (_, source) => {
    const hurried = pythonIn(boxes.sandbox, { wallMs: 400 })
    const result = await hurried(source, { sample: { output_text: '' }, item: {} })
    expect(result).toMatchObject({ ok: false, code: 'python_grader_runtime_error' })
    expect(result.ok ? '' : result.message).toContain('longer than 0.4 s')
  })

  test('cannot have a program that it starts reach the channel of its answer', async () => {
    const look = `import os; os.listdir(f"/proc/{os.getppid()}/fd")`
    const source = `import subprocess, sys\n${body(`print(subprocess.run([sys.executable, "-c", '${look}'], capture_output=True, text=True).stderr); return 1`)}`
    expect((await grade(source)).stdout).toContain('Permission denied')
  })

  test('finds nothing that another sample left', async () => {
    const source = body('import os; n = os.path.exists("/tmp/mark"); open("/tmp/mark", "w"); return n')
    expect([await grade(source), await grade(source)]).toMatchObject([{ value: 0 }, { value: 0 }])
  })

  test('that needs a missing package of the image is nobody’s zero, and the message says how to give it', async () => {
    const result = await grade('import rdkit\ndef grade(sample, item): return 1')
    expect(result).toMatchObject({
      ok: false,
      code: 'python_grader_server_error',
      runtime: { unlike: ['rdkit'] },
    })
    expect(result.ok ? '' : result.message).toMatch(/rdkit==2024\.9\.6.*QUINTAIN_PYTHON/)
  })

  test('is not begun without a package that it imports somewhere, whatever it makes of that', async () => {
    const lazy = await grade(
      `${body('import skbio, os.path')}\n  return 0\nclass A: from rdkit.Chem import x`,
    )
    expect(lazy).toMatchObject({ ok: false, code: 'python_grader_server_error', stdout: '' })
    expect(lazy.ok ? '' : lazy.message).toContain('imports rdkit, skbio, which')
    const guarded = await grade(`try:\n  import rdkit\nexcept ImportError:\n  pass\n${body('return 1')}`)
    expect(guarded).toMatchObject({ ok: false, code: 'python_grader_server_error' })
    const spoken = await grade(`"""\nimport rdkit\n"""\n${body('return 1')}`)
    expect(spoken).toMatchObject({ ok: true, value: 1 })
  })

  test('leaves no box open, also one that was cancelled', async () => {
    const over = new AbortController()
    const running = python(
      body('while True: pass'),
      { sample: { output_text: '' }, item: {} },
      { signal: over.signal },
    )
    setTimeout(() => over.abort(), 200)
    await expect(running).rejects.toThrow()
    expect(boxes.open()).toBe(0)
  })
})

test('without walls nothing is run', async () => {
  const result = await pythonIn(boxesOf(processDriver()).sandbox)(body('return 1'), {
    sample: { output_text: '' },
    item: {},
  })
  expect(result).toMatchObject({ ok: false, code: 'python_grader_server_error' })
})

test('a source of 256 kB is refused before there is a box', async () => {
  const result = await grade(`#${'x'.repeat(256_000)}`)
  expect(result).toMatchObject({ ok: false, code: 'python_grader_server_error' })
})
