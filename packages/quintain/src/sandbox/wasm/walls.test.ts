import { describe, expect, test } from 'vitest'
import { wasmDriver } from './driver.ts'

const driver = wasmDriver()
const { available } = await driver.available()

/** Finds what the interpreter holds of JavaScript, as a source would that means to get out. */
const search = `
import gc
def found():
    seen, held, queue = set(), [], gc.get_objects()
    while queue:
        thing = queue.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if any(kind.__name__ == 'JsProxy' for kind in type(thing).__mro__):
            held.append(thing)
        queue.extend(gc.get_referents(thing))
    return held
held = found()
js = [thing for thing in held if hasattr(thing, 'mountNodeFS')][0]
def attempt(reach):
    try:
        print('reached', reach())
    except BaseException as error:
        print(type(error).__name__, str(error)[:80])
`

describe.skipIf(!available)('a source that has got out of the interpreter', () => {
  test.each([
    ['runs no text as JavaScript', `attempt(lambda: js.constructor.constructor('return 1 + 1')())`],
    [
      'sees no folder of the machine',
      `attempt(lambda: js.mountNodeFS('/mounted', '/etc'))\nattempt(lambda: open('/mounted/hostname').read())`,
    ],
    [
      'makes no connection',
      `import _socket\njs.useNodeSockFS()\nattempt(lambda: _socket.socket().connect(('127.0.0.1', 1)))`,
    ],
  ])('%s', async (_, code) => {
    const box = await driver.start()
    const { stdout } = await box.exec(['python3', '-c', `${search}\nprint('out')\n${code}`])
    await box.stop()
    expect(stdout).toMatch(/^out\n/)
    expect(stdout).not.toContain('reached')
  })
})
