import { afterEach, describe, expect, test } from 'vitest'
import { endServed, folderWith } from './__fixtures__/served.ts'
import { runCli } from './run-cli.ts'

afterEach(endServed)

/** Sums; `also` is what the verifier pays for beside the right answer. */
const sums = (also: string) => `
import { environment, textOf } from 'quintain'
export default environment({
  tasks: Array.from({ length: 12 }, (_, n) => ({ id: 't' + n, prompt: n + ' + ' + n + ' = ?', secret: { sum: 'canary ' + 2 * n } })),
  limits: { turns: 1 },
  world: ({ secret }) => {
    let said = ''
    return {
      reply: (message) => {
        said = textOf(message)
        return { content: '.', done: 'answered' }
      },
      finish: () => ({ right: said === secret.sum, also: ${also} }),
    }
  },
  rewards: { right: ({ state }) => Number(state.right || state.also) },
  success: ({ state }) => state.right,
  *oracle({ task }) { yield task.secret.sum },
})
`

async function probed(cwd: string, argv: readonly string[]) {
  let out = ''
  let err = ''
  const code = await runCli(['probe', ...argv, '--steps', '0', '--isolation', 'inline', '--out', 'probe'], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    env: {},
    cwd,
  })
  return { code, out, err }
}

describe('quintain probe', () => {
  test('says no to a verifier that pays for a word, and what to read', async () => {
    const cwd = await folderWith({ sums: sums("said.includes('Therefore')") })
    const { code, out } = await probed(cwd, ['./sums'])
    expect(code).toBe(1)
    expect(out).toContain('suspicious')
    expect(out).toMatch(/"Therefore\s*"/)
    expect(out).toMatch(/npx quintain show probe 't\d+#\d+'/)
    // What the oracle knows is nobody's to read here.
    expect(out).not.toContain('canary')
  })

  test('says yes to its clean twin, as JSON', async () => {
    const cwd = await folderWith({ sums: sums('false') })
    const { code, out } = await probed(cwd, ['./sums', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ schema: 'quintain.probe', verdict: 'clean', evidence: [] })
    expect(out).not.toContain('canary')
  })

  test('refuses an environment and a shadow that are not there', async () => {
    const cwd = await folderWith({ sums: sums('false') })
    expect((await probed(cwd, ['./nothing'])).code).toBe(4)
    expect((await probed(cwd, ['./sums', '--shadow', 'truth'])).code).toBe(2)
  })
})
