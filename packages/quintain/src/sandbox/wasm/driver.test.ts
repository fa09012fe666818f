import { afterAll, describe, expect, test } from 'vitest'
import { wasmDriver } from './driver.ts'

const driver = wasmDriver()
const available = await driver.available()
if (!available.available)
  process.stderr.write(`Python in WebAssembly is NOT tested here: ${available.reason}\n`)
afterAll(() => driver.close?.())

const box = await driver.start({ limits: { memoryMb: 256, diskMb: 16 } }).catch(() => undefined)
const python = (code: string, options: { wallMs?: number; signal?: AbortSignal } = {}) =>
  box!.exec(['python3', '-I', '-c', code, 'first'], options)
const printed = async (code: string) => {
  const { stdout, stderr } = await python(code)
  return stderr === '' ? stdout : stderr
}

describe.skipIf(!available.available)('an interpreter in WebAssembly', () => {
  test('runs code with its arguments and its input, and tells its exit status', async () => {
    expect(
      await box!.exec(
        ['python3', '-c', 'import os, sys; print(sys.argv[1:], sys.stdin.read()); os._exit(3)', 'a'],
        {
          stdin: 'ü',
        },
      ),
    ).toMatchObject({ exitCode: 3, stdout: "['a'] ü\n", signal: null, timedOut: false })
  })

  test('has files of its own, up to the limit, and none of the machine', async () => {
    const code = `
import os
print(os.path.exists('/etc/passwd'), os.path.exists('/usr'), sorted(os.listdir('/')))
print([value for value in os.environ.values() if 'quintain' in value or 'work' in value])
for text in (b'x' * 2_000_000, b''):
    try:
        for n in range(20):
            open(f'/tmp/{n}-{len(text)}', 'wb').write(text)
        with open('/tmp/sparse', 'wb') as file:
            file.truncate(40_000_000)
    except OSError as error:
        print(error.strerror)
`
    expect(await printed(code)).toBe(
      "False False ['dev', 'home', 'lib', 'proc', 'tmp']\n[]\nNo space left on device\nNo space left on device\n",
    )
  })

  test('reaches no JavaScript, program, thread or socket', async () => {
    const code = `
import os, socket, subprocess, threading, importlib
for name in ('js', 'pyodide_js', 'pyodide.code', 'pyodide.http', 'ctypes'):
    try:
        importlib.import_module(name)
        print(name)
    except ImportError:
        pass
for reach in (
    lambda: subprocess.run(['ls']),
    lambda: threading.Thread(target=print).start(),
    lambda: socket.create_connection(('127.0.0.1', 80), 1),
    lambda: socket.socket().bind(('127.0.0.1', 0)),
):
    try:
        print('reached', reach())
    except (OSError, RuntimeError):
        pass
print(os.system('true') != 0)
`
    expect(await printed(code)).toBe('True\n')
  })

  test('meets a MemoryError above its limit', async () => {
    const code = `
kept = []
try:
    while True:
        kept.append(bytearray(10_000_000))
except MemoryError:
    print(len(kept) < 26)
`
    expect(await printed(code)).toBe('True\n')
  })

  test('runs coroutines, sleeping ones too', async () => {
    const code = `
import asyncio
async def two():
    return await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.sleep(0.02, 2))
print(asyncio.run(two()))
`
    expect(await printed(code)).toBe('[1, 2]\n')
  })

  test('is ended at its deadline, by the signal, and with its box', async () => {
    expect(await python('while True: pass', { wallMs: 3000 })).toMatchObject({ timedOut: true })
    expect(await python('while True: pass', { signal: AbortSignal.timeout(1000) })).toMatchObject({
      aborted: true,
    })
    const other = await driver.start()
    const ending = other.exec(['python3', '-c', 'while True: pass'])
    await other.stop()
    expect(await ending).toMatchObject({ exitCode: null, aborted: true })
    await expect(other.exec(['python3', '-c', ''])).rejects.toMatchObject({
      fault: { code: 'sandbox_stopped' },
    })
  })

  test('is all that there is', async () => {
    expect(await box!.exec('ls')).toMatchObject({ notStarted: 'not_found' })
    expect(await box!.exec(['ls'])).toMatchObject({ notStarted: 'not_found' })
    await expect(box!.read('/tmp/x')).rejects.toMatchObject({ code: 'options_invalid' })
    await expect(driver.start({ files: { a: '' } })).rejects.toMatchObject({ code: 'options_invalid' })
  })
})
