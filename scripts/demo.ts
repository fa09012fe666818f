// `npm run demo`: the main job from end to end, and a policy that gets better, without a key, in this repository.
// Every line that begins with "$" is a command that a user could type instead.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { games, training, warmStart } from '../bench/train/games.ts'
import { runCli } from '../packages/quintain/src/cli/run-cli.ts'
import { beforeAndAfter, curveLines, gameLines, habitLines } from './demo-shown.ts'

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

const say = (...lines: string[]) => process.stdout.write(`\n${lines.join('\n')}\n`)
const began = performance.now()
const out = (name: string) => ['--quiet', '--out', join(runs, name)]

say(
  `Quintain demo, in two parts. No model, no key, no network. It takes two to four minutes on two cores, most of them for the
training, and about 200 MB of disk for its games (${runs}/, which may be deleted).

1. Measuring. ${wordle} is an environment: Wordle. Scripts play it. First the oracle, which knows the answer; the
environment's floor (doing nothing, legal moves at random) is played beside it.`,
)
await command('eval', wordle, '--policy', 'script:oracle', '-n', '100', ...out('oracle'))

say(
  `The floor fails and the oracle succeeds: the reward can be earned, and not by accident.
Now two honest solvers over the same 200 tasks, two games each. Both see what an agent sees.`,
)
for (const policy of ['filter', 'solver']) {
  const players = ['--policy', `script:${policy}`, '-n', '200', '-r', '2', '--no-floor']
  await command('eval', wordle, ...players, ...out(policy))
}
say('Is the second one better, or was it luck? Compared task by task:')
await command('compare', join(runs, 'filter'), join(runs, 'solver'))

const game = games.code
const [warm, trained] = [join(runs, 'warm'), join(runs, 'trained')]
say(
  `2. Training. The code variant of the same environment: four letters from a to f, five guesses, each of the 1,296 codes a
secret. Two fifths of the codes are kept for the test, and no stage of the training sees one.

A transformer of 0.1 M parameters first imitates 1,000 games of a weak teacher, which keeps greens and never looks at yellow.`,
)
await command(...warmStart(game, { seed: '1', out: warm }))

say(
  `Now it plays, and is trained on what its own games earned: eight games of a secret are compared with each other. Measured
before and after on the codes of the test, at temperature 1 and greedy.`,
)
await command(...training(game, { seed: '1', from: warm, out: trained }))

say('The curve, on codes of neither training nor test, which choose the checkpoint:', '')
process.stdout.write(`${(await curveLines(join(root, trained))).join('\n')}\n`)
const measured = await beforeAndAfter(join(root, trained))
say('Three games of the test before (G right place, Y elsewhere, X no more of it):', '')
process.stdout.write(`${(await gameLines(measured.before, 3)).join('\n')}\n`)
say('The same three after:', '')
process.stdout.write(`${(await gameLines(measured.after, 3)).join('\n')}\n`)
say('Which mistakes became rarer, in shares of the guesses after the first:', '')
process.stdout.write(`${(await habitLines(measured, game.habits)).join('\n')}\n`)

say(
  `Those are habits of the demonstrations. One seed is one draw: docs/train-results.md has five, each beside more of the same
imitation, imitation of the teacher's wins only, and lower temperatures, all for as long as the training.

Done in ${((performance.now() - began) / 1000).toFixed(0)} s. Every game is on disk under ${runs}/, which may be deleted.

Next:
  npx quintain show ${join(runs, 'filter')} --failed      read a game that was lost
  npx quintain eval ${wordle} -m MODEL -n 30 -r 4   your model (OPENAI_BASE_URL, OPENAI_API_KEY)
  npx quintain serve-model ${trained}      the trained policy as an OpenAI-compatible server
  npx quintain init my-env               an environment of your own`,
)
