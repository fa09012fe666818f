import { type Command, Option } from 'commander'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { collect, numberBetween, share, threshold, wholeNumber } from './parse.ts'

/** Sizes of a new policy, or a checkpoint to begin from. */
function learnerOptions(command: Command): Command {
  return command
    .option(
      '--from <checkpoint>',
      'begin from this checkpoint, or the best one of this training (default: random weights)',
    )
    .option(
      '--vocabulary <file>',
      'tokens of a new policy: bytes, a JSON list of texts, or a renderer.json (default: bytes)',
    )
    .option('--layers <n>', 'of a new policy (default: 2)', wholeNumber(1))
    .option('--width <n>', 'of a new policy (default: 64)', wholeNumber(8))
    .option('--heads <n>', 'of a new policy (default: 4)', wholeNumber(1))
    .option('--context <n>', 'most tokens of a conversation of a new policy (default: 256)', wholeNumber(2))
    .option('--threads <n>', 'threads that compute (default: one per core, at most 8)', wholeNumber(1))
    .option('--seed <seed>', 'of weights, order and sampling (default: 0)')
    .option('--learning-rate <r>', 'at the first step (default: what the recipe says)', numberBetween(0))
    .option(
      '--set <field=value>',
      'a field of the algorithm, such as advantage.scale=none or adam.beta2=0.95 (may be repeated)',
      collect,
    )
}

/** The commands that train. `shared` adds the options of commands that call models. */
export function addTrainingCommands(
  cli: Command,
  { io, done, shared }: { io: CliIo; done: (code: ExitCode) => void; shared: (command: Command) => Command },
): void {
  shared(
    learnerOptions(
      cli
        .command('train')
        .argument('<env>', 'a package name, a folder or a file')
        .description('train a policy in an environment, and say whether it got better')
        .option('--recipe <name>', 'grpo, dr-grpo, dapo, rloo, gspo, cispo, distill (default: grpo)')
        .addOption(new Option('--engine <name>', 'what trains (default: embedded)').choices(['embedded'])),
    )
      .option(
        '--steps <n>',
        'steps of the training (default: 200, or until --minutes are over)',
        wholeNumber(1),
      )
      .option(
        '--minutes <n>',
        'end when the steps have taken so long; measurements are not counted',
        numberBetween(0),
      )
      .option('--groups <n>', 'tasks a step', wholeNumber(1))
      .option('--group-size <n>', 'rollouts of each task', wholeNumber(1))
      .option(
        '--minibatches <n>',
        'optimiser steps a step (default: 4, or as many as leave each four groups)',
        wholeNumber(1),
      )
      .option('--epochs <n>', 'times that the rollouts of a step are gone through', wholeNumber(1))
      .option(
        '--kl <coefficient>',
        'hold the policy to its reference by a KL term in the loss',
        numberBetween(0),
      )
      .option('--reference <checkpoint>', 'what --kl holds it to (default: as it began)')
      .option('--teacher <checkpoint>', 'of --recipe distill: whose probabilities are learned')
      .option(
        '--async <k>',
        'let rollouts go on while it learns, and learn from what is at most so many steps of the training old, each of --minibatches times --epochs optimiser steps (default: 0)',
        wholeNumber(0),
      )
      .option(
        '--stragglers <policy>',
        'what a step does about long rollouts: wait, over-order=N, resume-long=SHARE, partial-groups=N,SHARE (default: wait)',
      )
      .addOption(
        new Option('--curriculum <how>', 'how tasks are drawn (default: uniform)').choices([
          'uniform',
          'pools',
        ]),
      )
      .option('-n, --tasks <n>', 'read so many tasks of the environment (default: all)', wholeNumber(1))
      .option('--split <name>', 'tasks that are trained on (default: train)')
      .option(
        '--validation-split <name>',
        'tasks that choose the checkpoint: a split, a share of the training split, or none (default: validation, else a tenth)',
      )
      .option(
        '--test-split <name>',
        'tasks that are reported: a split, a share of the training split, or none (default: test, else a tenth)',
      )
      .option(
        '--eval-every <n>',
        'steps between measurements (default: an eighth of the steps)',
        wholeNumber(1),
      )
      .option(
        '--eval-tasks <n>',
        'validation and train tasks that are measured (default: all, and 32)',
        wholeNumber(1),
      )
      .option('--test-tasks <n>', 'test tasks that are measured (default: all)', wholeNumber(1))
      .option('--test-repeats <n>', 'attempts of each at temperature 1 (default: 1)', wholeNumber(1))
      .option('--checkpoint-every <n>', 'steps between checkpoints (default: 20)', wholeNumber(1))
      .option('--keep-all', 'keep all checkpoints, not only the best and the last')
      .option('--plateau <n>', 'end when validation was not better for so many measurements', wholeNumber(1))
      .option('--no-collapse', 'go on although success has collapsed')
      .option(
        '--shadow <metric>',
        'a metric or reward of the environment that the policy is not trained on, watched beside the reward',
      )
      .option('--temperature <t>', 'of the rollouts (default: 1)', numberBetween(0.01, 100))
      .option(
        '--max-tokens <n>',
        'most tokens of one reply (default: what the context holds)',
        wholeNumber(1),
      )
      .option(
        '--option <key=value>',
        'an option of the environment; the value may be JSON (may be repeated)',
        collect,
      )
      .option('--limit <limits>', 'limits: turns=8,tokens=4000,wall=2m,tool=30s,grade=1m', collect)
      .option('--seat <seat=policy>', 'who plays another seat (may be repeated)', collect)
      .option('--judge <judge=model>', 'the model that the graders ask (may be repeated)', collect)
      .option('--concurrency <n>', 'rollouts in flight', wholeNumber(1))
      .option('--workers <n>', 'worker processes (default: one per core)', wholeNumber(1))
      .option('--sandbox <driver>', 'what boxes run in (default: the strongest that is here)')
      .option('--boxes <n>', 'boxes open at a time (default: eight per core)', wholeNumber(1))
      .addOption(new Option('--isolation <how>', 'where the environment runs').choices(['worker', 'inline']))
      .option(
        '--max-tries <n>',
        'tries of a rollout that ends in a fault that may pass (default: 3)',
        wholeNumber(1),
      )
      .option('--out <folder>', 'where the training is recorded (default: a new folder in runs/)')
      .option(
        '--html [file]',
        'write a page with the curves, while it trains and at the end (default: training.html in the folder)',
      )
      .option('--force', 'with --html: overwrite a file that is no such page')
      .option('--json', 'print what it came to as JSON')
      .option('--quiet', 'no progress, alarms and hints'),
  ).action(async (env: string, flags: import('./train-command.ts').TrainFlags) => {
    const { trainCommand } = await import('./train-command.ts')
    done(await trainCommand(env, flags, io))
  })

  for (const [recipe, what, description] of [
    ['sft', 'conversations: JSON lines of messages, or runs', 'train a policy to say what conversations say'],
    [
      'dpo',
      'preferences: JSON lines of prompt, chosen and rejected, or runs',
      'train a policy to prefer the better of two answers',
    ],
  ] as const) {
    const command = learnerOptions(
      cli.command(recipe).argument('<sources...>', what).description(description),
    )
      .option('--out <folder>', 'where the checkpoint goes')
      .option('--force', 'overwrite a checkpoint')
      .option('--epochs <n>', 'times that the examples are gone through (default: 3)', numberBetween(0.01))
      .option('--steps <n>', 'end after so many steps', wholeNumber(1))
      .option('--minutes <n>', 'end when the steps have taken so long', numberBetween(0))
      .option('--batch <n>', 'examples a step (default: 16)', wholeNumber(1))
      .option(
        '--held-out <share>',
        'share of the tasks (or distinct conversations) that is not learned from, but measured (default: 5%, of 40 examples or more)',
        share,
      )
      .option('--min-reward <r>', 'leave out what earned less', threshold)
      .option('--max-per-task <n>', 'of runs: most attempts of a task, or pairs', wholeNumber(1))
      .option('--seat <seat>', 'of runs: whose calls (default: agent)')
      .option('--json', 'print what it came to as JSON')
      .option('--quiet', 'no progress and hints')
    if (recipe === 'sft')
      command
        .option('--winners-only', 'leave out what did not succeed')
        .option(
          '--best-of-n <n>',
          'of runs: of every n attempts at a task, the best one alone',
          wholeNumber(1),
        )
    else command.option('--margin <r>', 'of runs: the least difference of rewards in a pair', threshold)
    command.action(async (sources: string[], flags: import('./sft-command.ts').SftFlags) => {
      const { sftCommand } = await import('./sft-command.ts')
      done(await sftCommand(recipe, sources, flags, io))
    })
  }
}

/** `quintain export checkpoint`. */
export function addCheckpointExport(
  exported: Command,
  { io, done }: { io: CliIo; done: (code: ExitCode) => void },
): void {
  exported
    .command('checkpoint')
    .argument('<checkpoint>', 'a checkpoint, or a training, whose best one is meant')
    .description(
      'write a trained policy: weights as safetensors, shape, vocabulary; without what only training needs',
    )
    .option('--out <folder>', 'where to')
    .action(async (checkpoint: string, _: unknown, command: Command) => {
      const { exportCheckpointCommand } = await import('./export-checkpoint.ts')
      await exportCheckpointCommand(checkpoint, command.optsWithGlobals(), io)
      done(exitCodes.done)
    })
}
