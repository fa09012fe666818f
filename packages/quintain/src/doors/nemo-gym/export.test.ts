import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import { exportNemoGym } from './export-nemo-gym.ts'
import { launcherText } from './launcher.ts'

async function exported(options: FakeOptions) {
  const out = mkdtempSync(join(tmpdir(), 'quintain-nemo-'))
  const { files, notes } = await exportNemoGym({ core: fakeCore(options), reference: './fake env', out })
  return { files, notes, read: (path: string) => readFileSync(join(out, path), 'utf8') }
}
const folder = 'resources_servers/fake'

test('writes the rows of each split, an example, a configuration and a launcher', async () => {
  const { files, read, notes } = await exported({ kind: 'tools' })
  expect(files.filter((file) => file.startsWith(folder)).toSorted()).toEqual(
    [
      'app.py',
      'configs/fake.yaml',
      'data/example.jsonl',
      'data/test.jsonl',
      'data/train.jsonl',
      'requirements.txt',
    ].map((name) => `${folder}/${name}`),
  )
  const rows = read(`${folder}/data/test.jsonl`).trimEnd().split('\n')
  expect(rows.map((row) => (JSON.parse(row) as { task_id: string }).task_id)).toEqual([
    'test-0',
    'test-1',
    'test-2',
  ])
  const config = read(`${folder}/configs/fake.yaml`)
  expect(config).toContain('type: validation')
  expect(config).not.toContain('gymnasium')
  expect(notes.join('\n')).toContain('NEMO_GYM_EXTRA_ROOTS')
  expect(read('verifiers.toml')).toContain(`dataset = "${folder}/data/train.jsonl"`)
  expect(read('verifiers.toml')).toContain('"X-Quintain-Unscored" = "error"')
})

test('where the environment answers there is an agent of steps too, with rows of its own', async () => {
  const { files, read } = await exported({ kind: 'game' })
  expect(files).toContain(`${folder}/data/train-gymnasium.jsonl`)
  expect(read(`${folder}/configs/fake.yaml`)).toContain('max_steps: 1000')
  expect(read(`${folder}/data/train-gymnasium.jsonl`)).not.toContain('"tools"')
})

const python = spawnSync('python3', ['--version']).status === 0

test.skipIf(!python)('the launcher becomes the server, where NeMo Gym wants it', () => {
  const out = mkdtempSync(join(tmpdir(), 'quintain-nemo-'))
  const program = launcherText({ reference: './fake "env"', folder: '.' })
  // Python that stands in for the YAML package and for becoming another program.
  const played = [
    'import json, os, sys, types',
    'yaml = types.ModuleType("yaml"); yaml.safe_load = json.loads; sys.modules["yaml"] = yaml',
    'os.execvp = lambda file, args: print(json.dumps([file, args, os.getcwd()]))',
    'source = sys.stdin.read()',
    'exec(compile(source, "app.py", "exec"), {"__name__": "__main__", "__file__": sys.argv[1]})',
  ].join('\n')
  const run = (host: string) =>
    JSON.parse(
      execFileSync('python3', ['-c', played, join(out, 'app.py')], {
        input: program,
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          NEMO_GYM_CONFIG_DICT: JSON.stringify({
            fake: { resources_servers: { fake: { entrypoint: 'app.py', host, port: 1234 } } },
          }),
          NEMO_GYM_CONFIG_PATH: 'fake',
        },
      }),
    ) as [string, string[], string]
  const [file, args] = run('127.0.0.1')
  expect([file, ...args.slice(1)]).toEqual([
    'npx',
    ...['--no', 'quintain', 'serve', './fake "env"', '--door', 'nemo-gym', '--host', '127.0.0.1'],
    ...['--port', '1234'],
  ])
  expect(run('0.0.0.0')[1]).toContain('--token-env')
})
