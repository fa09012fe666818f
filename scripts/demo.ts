// `npm run demo`: the main job from end to end, without a key, on an environment that is in this repository.
// Every line that begins with "$" is a command that a user could type instead.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCli } from '../packages/quintain/src/cli/run-cli.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const wordle = join('environments', 'wordle')
const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
const runs = join('runs', `demo-${stamp}`)

async function command(...argv: string[]): Promise<void> {
  process.stdout.write(`\n$ npx quintain ${argv.join(' ')}\n`)
  const code = await runCli(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: root,
  })
  if (code !== 0) process.exit(code)
}

const say = (text: string) => process.stdout.write(`\n${text}\n`)
const began = performance.now()

say(
  `Quintain demo: Wordle, an environment in ${wordle}. No model, no key, no network: scripts play.
First three policies that say whether the environment measures anything: one that does nothing, one that makes
legal moves at random, and the oracle, which knows the answer.`,
)
for (const policy of ['noop', 'random', 'oracle']) {
  await command(
    'eval',
    wordle,
    '--policy',
    `script:${policy}`,
    '-n',
    '100',
    '--quiet',
    '--out',
    join(runs, policy),
  )
}

say(
  `Do-nothing and random moves fail, the oracle succeeds: the reward can be earned, and not by accident.
Now two honest solvers over the same 200 tasks, two games each. Both see what an agent sees.`,
)
for (const policy of ['filter', 'solver']) {
  await command(
    'eval',
    wordle,
    '--policy',
    `script:${policy}`,
    '-n',
    '200',
    '-r',
    '2',
    '--quiet',
    '--out',
    join(runs, policy),
  )
}

say('Is the second one better, or was it luck? Compared task by task:')
await command('compare', join(runs, 'filter'), join(runs, 'solver'))

say(`Done in ${((performance.now() - began) / 1000).toFixed(0)} s. Every game is on disk under ${runs}/.

Next:
  npx quintain show ${join(runs, 'filter')} --failed      read a game that was lost
  npx quintain list ${runs}              the runs of this demo
  npx quintain eval ${wordle} -m MODEL -n 30 -r 4   your model (OPENAI_BASE_URL, OPENAI_API_KEY)
  npx quintain init my-env               an environment of your own
`)
