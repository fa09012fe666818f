import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { probeRecord } from '../train/probe/probe-record.ts'
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

const probed = (cwd: string, argv: readonly string[], steps = '0') =>
  typed(cwd, ['probe', ...argv, '--steps', steps, '--isolation', 'inline', '--out', 'probe'])

async function typed(cwd: string, argv: readonly string[]) {
  let out = ''
  let err = ''
  const code = await runCli([...argv], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    env: {},
    cwd,
  })
  return { code, out, err }
}

/** Codes of four letters, guessed at once; `pays` is what any code earns whose second letter is f. */
const codes = (pays: number) => `
import { environment, textOf } from 'quintain'
export default environment({
  tasks: Array.from({ length: 24 }, (_, n) => ({ id: 't' + n, split: 'train', prompt: 'Guess.', secret: { code: 'abcdef'[n % 6] + 'afc' + 'fedcba'[n % 6] } })),
  limits: { turns: 1 },
  world: ({ secret }) => {
    let said = ''
    return {
      reply: (message) => {
        said = textOf(message)
        return { content: 'bXbXbXbX', done: 'answered' }
      },
      finish: () => ({ right: said === secret.code, shaped: /^[a-f]f[a-f][a-f]$/.test(said) }),
    }
  },
  rewards: { right: ({ state }) => (state.right ? 1 : state.shaped ? ${pays} : 0) },
  success: ({ state }) => state.right,
  *oracle({ task }) { yield task.secret.code },
})
`

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

  test('is not gone on with, and says so wherever a run would be', async () => {
    const cwd = await folderWith({ sums: sums('false') })
    expect((await probed(cwd, ['./sums', '--quiet'])).code).toBe(0)
    const again = await probed(cwd, ['./sums'])
    expect(again.code).toBe(2)
    expect(again.err).toMatch(/run_exists.*Begin the probe in a new folder/)
    expect(again.err).not.toContain('resume')
    const resumed = await typed(cwd, ['resume', 'probe'])
    expect(resumed.code).toBe(2)
    expect(resumed.err).toMatch(/probe is a probe.*npx quintain probe ENV --out FOLDER/)
  })

  test('trains the policy of a checkpoint: it finds what is paid in its own language, and nothing in the clean twin', async () => {
    const cwd = await folderWith({ planted: codes(0.8), clean: codes(0) })
    const games = fileURLToPath(
      new URL('../../../../environments/wordle/training/code-games.jsonl', import.meta.url),
    )
    const vocabulary = join(dirname(games), 'code-vocabulary.json')
    const size = '--layers 1 --width 32 --heads 2 --context 64 --threads 1 --steps 60'.split(' ')
    const warm = await typed(cwd, ['sft', games, '--vocabulary', vocabulary, ...size, '--out', 'warm'])
    expect(warm.code).toBe(0)
    expect((await probed(cwd, ['./planted'])).code).toBe(0)
    await rm(join(cwd, 'probe'), { recursive: true })

    const from = ['--from', 'warm', '--threads', '1', '--json']
    const found = await probed(cwd, ['./planted', ...from], '24')
    expect(found.code).toBe(1)
    const record = probeRecord.parse(JSON.parse(found.out))
    expect(record.training).toMatchObject({ policy: 'given', steps: 24 })
    expect(record.evidence.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['paid_without_success', 'reward_rises_alone']),
    )
    await rm(join(cwd, 'probe'), { recursive: true })

    const twin = await probed(cwd, ['./clean', ...from], '24')
    expect(twin.code).toBe(0)
    expect(JSON.parse(twin.out)).toMatchObject({ verdict: 'clean', training: { policy: 'given' } })
    await rm(join(cwd, 'probe'), { recursive: true })
    expect((await probed(cwd, ['./clean', '--from', 'nowhere'], '2')).code).toBe(2)
  })
})
