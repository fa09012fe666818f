import { Argument, Command, CommanderError, Option } from 'commander'
import { messageOf, QuintainError } from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import { printableLine } from '../report/index.ts'
import type { NamedAgent } from './agents.ts'
import type { CompareCommandOptions } from './compare-command.ts'
import type { EvalOptions, NamedPlayer } from './eval-command.ts'
import { type ExitCode, exitCodeHelp, exitCodeOfError, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import {
  change,
  collect,
  collectPrices,
  httpUrl,
  numberBetween,
  portNumber,
  share,
  threshold,
  wholeNumber,
} from './parse.ts'
import type { ResumeCommandOptions } from './resume-command.ts'
import { addCheckpointExport, addTrainingCommands } from './train-cli.ts'

/** Options of commands that call models. */
function endpointOptions(command: Command): Command {
  return command
    .option(
      '--base-url <url>',
      'endpoint of the model (default: $OPENAI_BASE_URL, else https://api.openai.com/v1); of several, which are replicas, attempts are spread over all',
      collect,
    )
    .addOption(
      new Option(
        '--server <kind>',
        'what stands behind the endpoint; it is asked for the tokens that it sampled',
      ).choices(['vllm', 'sglang', 'llama.cpp']),
    )
    .option(
      '--api-key-env <name>',
      'variable that holds the key (default: OPENAI_API_KEY, of anthropic:NAME ANTHROPIC_API_KEY)',
    )
    .option(
      '--price <[model:]in=…,out=…>',
      "the model's price in US dollars per million tokens: in=0.15,out=0.60,cached=0.02; of several, MODEL:in=… for each",
      collectPrices,
    )
}

/** Options of commands that play agents; what was typed goes to `agents`. */
function agentOptions(command: Command, agents: NamedAgent[]): Command {
  return command
    .option(
      '--agent <file>',
      'an agent of yours: FILE#EXPORT (default export when absent), a function that answers or a harness; -m or --policy is what answers its model calls (may be repeated)',
      (file) => {
        agents.push({ file })
      },
    )
    .option(
      '--agent-command <command>',
      'an agent of yours that is a program, such as "node agent.js"',
      (text) => {
        agents.push({ command: text })
      },
    )
    .option('--agent-url <url>', 'an agent of yours that is a service', (text) => {
      agents.push({ url: httpUrl(text) })
    })
}

/** Options of commands that open an environment for a door; they mean what they do for `eval`. */
function coreOptions(command: Command): Command {
  return command
    .option('-n, --tasks <n>', 'how many tasks (default: all)', wholeNumber(1))
    .option('--split <name>', 'tasks of this split only')
    .option(
      '--option <key=value>',
      'an option of the environment, NAME:key=value for one of several; the value may be JSON (may be repeated)',
      collect,
    )
    .option('--seed <seed>', 'seed that worlds are made from (default: 0)')
    .option('--limit <limits>', 'limits: turns=8,tokens=4000,cost=0.5,wall=2m,tool=30s,grade=1m', collect)
    .option('--seat <seat=policy>', 'who plays another seat (may be repeated)', collect)
    .option(
      '--judge <judge=model>',
      'the model that the graders ask, by the name that the environment has for it, or one for all of them (may be repeated)',
      collect,
    )
    .option('--workers <n>', 'worker processes (default: one per core)', wholeNumber(1))
    .option('--sandbox <driver>', 'what boxes run in (default: the strongest that is here)')
    .option('--boxes <n>', 'boxes open at a time (default: eight per core)', wholeNumber(1))
    .addOption(new Option('--isolation <how>', 'where the environment runs').choices(['worker', 'inline']))
}

/** Options of commands that run attempts. */
function sessionOptions(command: Command): Command {
  return command
    .option('--concurrency <n>', 'rollouts in flight', wholeNumber(1))
    .option('--workers <n>', 'worker processes (default: one per core)', wholeNumber(1))
    .option(
      '--sandbox <driver>',
      'what boxes run in, for an environment that needs them: bwrap, docker, podman, bash, wasm (Python graders only), process (default: the strongest of the first three that is here)',
    )
    .option('--boxes <n>', 'boxes open at a time (default: eight per core)', wholeNumber(1))
    .option('--max-cost <usd>', 'start nothing more once this is spent', numberBetween(0))
    .option(
      '--max-tries <n>',
      'tries of an order that ends in a fault that may pass (default: 3)',
      wholeNumber(1),
    )
    .option(
      '--min-coverage <share>',
      'share of orders that must be scored for a headline (default: 1)',
      share,
    )
    .option(
      '--threshold <rate>',
      'exit with 1 when the success rate is below it: 0.8, or 80%; the mean reward, where success is not declared',
      threshold,
    )
    .option('--json', 'print the report as JSON')
    .option('--quiet', 'no progress, notes and hints')
}

function program(io: CliIo, done: (code: ExitCode) => void): Command {
  const cli = new Command('quintain')
    .description('Measure agents in environments, and keep the record.')
    .version(quintainVersion, '-V, --version')
    .option('--verbose', 'show where an error came from')
    .addHelpText('after', `\n${exitCodeHelp}\n`)
    .showHelpAfterError('Try --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    // Each command checks its own arguments; a stray one is a slip.
    .allowExcessArguments(false)

  cli
    .command('init')
    .argument('[name]', 'name of the npm package to make')
    .option(
      '--agent [agent]',
      'make it round an agent: of a file that is there already, or an example of a framework (listed when none is named)',
    )
    .option('--from <file>', 'make it of recorded conversations: chat lines, or results of tau-bench')
    .option('--as <format>', 'what the file is: tau-bench or chat (default: what it looks like)')
    .option(
      '--copy <environment>',
      'make it a copy of an environment with its source and tests: orders, wordle or gsm8k in a checkout, or a path',
    )
    .option('--dir <folder>', 'where to (default: the name)')
    .description('make a new environment package')
    .action(
      async (
        name: string | undefined,
        options: Parameters<typeof import('./init-command.ts').initCommand>[1],
      ) => {
        const { initCommand } = await import('./init-command.ts')
        await initCommand(name, options, io)
        done(exitCodes.done)
      },
    )

  // Models and policies in the order in which they are typed: the first is what the others are compared with.
  const players: NamedPlayer[] = []
  const evaluated: NamedAgent[] = []
  sessionOptions(
    endpointOptions(
      agentOptions(
        cli
          .command('eval')
          .argument('<env>', 'a package name, a folder or a file')
          .description('run a model, a policy or an agent in an environment and report'),
        evaluated,
      )
        .option(
          '-m, --model <model>',
          'the model that plays: a name, or anthropic:NAME or responses:NAME for the protocol that it is asked in, or checkpoint:FOLDER for a policy that was trained here; several take turns and are compared',
          (model) => {
            players.push({ model })
          },
        )
        .option(
          '--policy <policy>',
          'who plays instead: script:oracle, script:noop, script:random, script:NAME, recorded:PATH (may be repeated)',
          (policy) => {
            players.push({ policy })
          },
        )
        .option('--seat <seat=policy>', 'who plays another seat (may be repeated)', collect)
        .option(
          '--judge <judge=model>',
          'the model that the graders ask, by the name that the environment has for it, or one for all of them (may be repeated)',
          collect,
        )
        .option('-n, --tasks <n>', 'how many tasks (default: all)', wholeNumber(0))
        .option('--task <id>', 'which task (may be repeated)', collect)
        .option('-r, --repeats <n>', 'attempts of each task (default: 1)', wholeNumber(1))
        .option('--split <name>', 'tasks of this split only')
        .option('--seed <seed>', 'seed of the run (default: 0)')
        .option('--limit <limits>', 'limits: turns=8,tokens=4000,cost=0.5,wall=2m,tool=30s,grade=1m', collect)
        .option(
          '--option <key=value>',
          'an option of the environment; the value may be JSON (may be repeated)',
          collect,
        )
        .option('--temperature <t>', 'sampling temperature', numberBetween(0))
        .option('--top-p <p>', 'nucleus sampling', numberBetween(0, 1))
        .option('--max-tokens <n>', 'most tokens of one reply', wholeNumber(1))
        .option('--reasoning-effort <word>', 'low, medium or high, where a model has it')
        .option('--escalate', 'offer agents the action "this task is broken"')
        .option('--no-floor', 'do not play the policies that the environment calls its floor')
        .addOption(
          new Option('--isolation <how>', 'where the environment runs').choices(['worker', 'inline']),
        )
        .option('--out <folder>', 'where the run is recorded (default: a new folder in runs/)')
        .option(
          '--detect <change>',
          'say how many tasks a change of the success rate takes: 5%, 5 or 0.05 are all five points',
          change,
        )
        .option('--stop-when-decided', 'of two players: start nothing more once one is shown to be better')
        .option(
          '--alpha <p>',
          'error rate of --stop-when-decided (default: 0.05)',
          numberBetween(0.0001, 0.5),
        )
        .option('--dry-run', 'show what would be run, and order nothing'),
    ),
  ).action(async (env: string, options: Omit<EvalOptions, 'players'>) => {
    const { evalCommand } = await import('./eval-command.ts')
    done(await evalCommand(env, { ...options, players, agents: evaluated }, io))
  })

  const resumed: NamedAgent[] = []
  sessionOptions(
    endpointOptions(
      agentOptions(
        cli
          .command('resume')
          .argument(
            '<run>',
            'a run folder, or its name in runs/; or the folder of the runs of several models, or of a training',
          )
          .description('go on with a run or a training, or order more into it'),
        resumed,
      )
        .option('-n, --tasks <n>', 'order up to so many tasks', wholeNumber(0))
        .option('--task <id>', 'order this task too (may be repeated)', collect)
        .option('-r, --repeats <n>', 'order up to so many attempts of each task', wholeNumber(1))
        .option('--split <name>', 'tasks of this split')
        .option('--no-retry-faults', 'leave orders alone that ended in a fault')
        .option('--steps <n>', 'of a training: make so many steps in all', wholeNumber(1))
        .option('--threads <n>', 'of a training: threads that compute', wholeNumber(1))
        .option('--html [file]', 'of a training: write its page (default: training.html in its folder)')
        .option('--force', 'go on although the environment has changed'),
    ),
  ).action(async (run: string, options: ResumeCommandOptions) => {
    const { resumeCommand } = await import('./resume-command.ts')
    done(await resumeCommand(run, { ...options, agents: resumed }, io))
  })

  addTrainingCommands(cli, { io, done, shared: endpointOptions })

  const imported = cli
    .command('import')
    .argument('<file>', 'recorded conversations: JSON lines or a JSON array')
    .option('--as <format>', 'tau-bench, chat, verifiers or inspect (default: what the file looks like)')
    .option('--out <folder>', 'where the run is recorded (default: a new folder in runs/)')
    .option('--policy <name>', 'who played (default: what the file says)')
    .option('--name <name>', 'what was measured (default: the format); only runs of one name are compared')
    .option('--quiet', 'no notes and hints')
    .description('make a run of recorded conversations, with the rewards they were given')
    .action(
      async (file: string, options: Parameters<typeof import('./import-command.ts').importCommand>[1]) => {
        const { importCommand } = await import('./import-command.ts')
        await importCommand(file, options, io)
        done(exitCodes.done)
      },
    )
  for (const [format, what] of foreignImports) {
    const command = imported
      .command(format)
      .argument('<file>', what)
      .option('--out <folder>', 'where the run is recorded (default: a new folder in runs/)')
      .option('--policy <name>', 'who played (default: what the file says)')
      .option('--name <name>', 'what was measured (default: what the file says)')
      .option('--strict', 'refuse a file of which anything cannot be read, in place of leaving that out')
      .option('--quiet', 'no notes and hints')
      .description(`make a run of ${what}`)
    if (format === 'inspect')
      command.option('--score <name>', "the score that is the reward (default: the first scorer's)")
    command.action(async (file: string) => {
      const { importForeignCommand } = await import('./import-command.ts')
      await importForeignCommand(format, file, command.optsWithGlobals(), io)
      done(exitCodes.done)
    })
  }
  imported
    .command('openai-rft')
    .option('--grader <file>', 'the JSON of the grader (default: the one in the job)')
    .option('--train <file>', 'the training rows, JSON lines')
    .option('--valid <file>', 'the validation rows, JSON lines')
    .option('--job <file>', 'the JSON of the job: its settings, and the form of answer')
    .option('--out <folder>', 'where the package goes (default: a folder of its name)')
    .option('--name <name>', 'what the package is called')
    .description('make an environment of the files of a hosted reinforcement fine-tuning')
    .action(async (_: unknown, command: Command) => {
      const { importRftCommand } = await import('./import-openai.ts')
      await importRftCommand(command.optsWithGlobals(), io)
      done(exitCodes.done)
    })
  imported
    .command('openai-evals')
    .argument('<files...>', 'the eval, its runs, their output items and data, in any order')
    .option('--out <folder>', 'where the package goes (default: a folder of its name)')
    .option('--name <name>', 'what the package is called')
    .description('make an environment of the files of hosted evals')
    .action(async (files: string[], _: unknown, command: Command) => {
      const { importEvalsCommand } = await import('./import-openai.ts')
      await importEvalsCommand(files, command.optsWithGlobals(), io)
      done(exitCodes.done)
    })

  endpointOptions(
    cli
      .command('parity')
      .argument(
        '<source>',
        "an environment, which is played behind doors; or a grader's JSON, or the package that was imported",
      )
      .argument(
        '[rows...]',
        'of a grader: saved outputs, JSON lines { item, sample, expected }, or output items of an eval run (default: parity.jsonl of the package)',
      )
      .option('--door <name>', 'through this door (default: all; may be repeated)', collect)
      .option('-n, --tasks <n>', 'so many tasks, or episodes of each run (default: 10)', wholeNumber(1))
      .option(
        '--policy <policy>',
        'who plays (default: script:oracle, script:random and script:noop; may be repeated)',
        collect,
      )
      .option('--run <run>', 'play the episodes of this run again (may be repeated)', collect)
      .option(
        '--option <key=value>',
        'an option of the environment; the value may be JSON (may be repeated)',
        collect,
      )
      .option('--seed <seed>', 'seed of the worlds (default: 0)')
      .option('--split <name>', 'tasks of this split only')
      .option('--limit <limits>', 'limits: turns=8,wall=2m,tool=30s,grade=1m', collect)
      .option('--seat <seat=policy>', 'who plays another seat (may be repeated)', collect)
      .option(
        '--judge <judge=model>',
        'the model that stands for one that graders ask, or one for all of them (may be repeated)',
        collect,
      )
      .option(
        '--sandbox <driver>',
        'what boxes and Python graders run in: bwrap, docker, podman, bash, wasm, process (default: the strongest that is here)',
      )
      .option('--json', 'as JSON')
      .option('--markdown', 'the table of doors as Markdown')
      .description(
        'play episodes again through every door, or grade saved outputs again, and say what is the same',
      ),
  ).action(async (source: string, rows: string[], options: import('./parity-command.ts').ParityOptions) => {
    const { parityCommand } = await import('./parity-command.ts')
    done(await parityCommand(source, rows, options, io))
  })

  endpointOptions(
    coreOptions(
      cli
        .command('serve')
        .argument('[envs...]', 'environments: package names, folders or files')
        .description('serve environments to trainers, by the protocols that they speak')
        .option(
          '--door <name>',
          'by which protocol: ors, openenv, nemo-gym, hud, native (may be repeated)',
          collect,
        )
        .option('--doors', 'show what each door is and who may have its address, and serve nothing')
        .option('--host <host>', 'where to listen (default: 127.0.0.1); elsewhere a token is needed')
        .option(
          '--port <n>',
          'port of the first address, every further one takes the next; 0: any (default: 8000)',
          portNumber,
        )
        .option('--name <host>', 'a name by which requests may call this machine (may be repeated)', collect)
        .option('--token-env <name>', 'variable that holds the token that clients must show')
        .option('--token-file <file>', 'file that holds it')
        .option(
          '--metrics-port <n>',
          'port of health, readiness and metrics, on loopback (default: any)',
          portNumber,
        )
        .option('--lossy', 'serve although a door does not carry all that an environment needs')
        .option('--max-sessions <n>', 'sessions open at a time (default: 1024)', wholeNumber(1))
        .option('--idle <time>', 'after so long without a request a session is given up (default: 15m)')
        .option('--grace <time>', 'how long open sessions may go on after Ctrl-C (default: 30s)')
        .option('--out <folder>', 'where the run is recorded (default: a new folder in runs/)')
        .option('--until-stdin-closes', 'end as on Ctrl-C when standard input ends')
        .option('--json', 'print what happens as JSON, an object a line'),
    ),
  ).action(async (envs: string[], options: import('./serve-command.ts').ServeOptions) => {
    const { serveCommand } = await import('./serve-command.ts')
    done(await serveCommand(envs, options, io))
  })

  cli
    .command('serve-model')
    .argument('<checkpoint>', 'a checkpoint, or a training: its best checkpoint')
    .description("serve a trained policy as OpenAI's endpoints are served, with the tokens that it samples")
    .option('--model-name <name>', 'the name by which clients ask for it (default: that of the folder)')
    .option('--host <host>', 'where to listen (default: 127.0.0.1); elsewhere a token is needed')
    .option('--port <n>', 'port; 0: any that is free (default: 8000)', portNumber)
    .option('--name <host>', 'a name by which requests may call this machine (may be repeated)', collect)
    .option('--token-env <name>', 'variable that holds the token that clients must show')
    .option('--token-file <file>', 'file that holds it')
    .option(
      '--control-port <n>',
      'port on loopback where weights are exchanged while it serves; 0: any (default: none)',
      portNumber,
    )
    .option('--control-token-env <name>', 'variable that holds the token of that port')
    .option('--control-token-file <file>', 'file that holds it')
    .option('--concurrency <n>', 'sequences that are sampled at a time (default: 256)', wholeNumber(1))
    .option('--queue <n>', 'sequences that may wait; more are refused (default: 1024)', wholeNumber(0))
    .option('--threads <n>', 'threads that sample (default: one per core, at most 8)', wholeNumber(1))
    .option('--grace <time>', 'how long replies may go on after Ctrl-C (default: 30s)')
    .option('--until-stdin-closes', 'end as on Ctrl-C when standard input ends')
    .option('--json', 'print what happens as JSON, an object a line')
    .action(async (checkpoint: string, options: import('./serve-model-command.ts').ServeModelOptions) => {
      const { serveModelCommand } = await import('./serve-model-command.ts')
      done(await serveModelCommand(checkpoint, options, io))
    })

  endpointOptions(
    coreOptions(
      cli
        .command('probe')
        .argument('<env>', 'a package name, a folder or a file')
        .description('look for reward without success: what is paid that knows nothing of the task')
        .option('--from <checkpoint>', 'train this policy in place of one that sees nothing of the task')
        .option('--steps <n>', 'steps of the training; 0: none (default: 24)', wholeNumber(0))
        .option('--time <time>', 'most time of the training (default: 5m)')
        .option('--script-time <time>', 'most time of the replies that know nothing (default: 2m)')
        .option('--shadow <name>', 'a metric or reward that says what success is, 0.5 and more')
        .option('--threads <n>', 'threads that train (default: one per core, at most 8)', wholeNumber(1))
        .option('--out <folder>', 'where it is recorded (default: a new folder in runs/)')
        .option('--json', 'print what was found as JSON')
        .option('--quiet', 'no progress'),
    ),
  ).action(async (env: string, options: import('./probe-command.ts').ProbeCommandOptions) => {
    const { probeCommand } = await import('./probe-command.ts')
    done(await probeCommand(env, options, io))
  })

  const exported = cli
    .command('export')
    .addArgument(
      new Argument('<format>', 'the platform').choices(['openai', 'runrl', 'bedrock', 'fireworks']),
    )
    .argument('<source>', 'a grader (its JSON, or the package that was imported); for fireworks, a run')
    .option('--out <file>', 'write to this file (default: standard output)')
    .option('--force', 'with --out: overwrite a file that is something else')
    .description(
      'write a hosted grader for another platform, the rows of a run, or a trained policy (export checkpoint)',
    )
    .action(
      async (
        format: import('./export-command.ts').ExportFormat,
        source: string,
        options: import('./export-command.ts').ExportOptions,
      ) => {
        const { exportCommand } = await import('./export-command.ts')
        await exportCommand(format, source, options, io)
        done(exitCodes.done)
      },
    )

  addCheckpointExport(exported, { io, done })
  for (const [format, description] of [
    ['openenv', 'write a typed OpenEnv client of an environment, for trainers'],
    ['nemo-gym', 'write rows, a configuration and a launcher of an environment, for NeMo Gym'],
    ['hud', 'write the tasks of an environment as rows, for HUD'],
    ['verifiers', 'write an installable package of an environment, for verifiers and prime-rl'],
  ] as const) {
    const command = exported
      .command(format)
      .argument('<env>', 'a package name, a folder or a file')
      .description(description)
      .option('--out <folder>', 'where to')
      .option('--url <url>', 'where a server of it runs')
      .option('--force', 'write into a folder that holds something')
      .option('--lossy', 'write it although the door does not carry all that the environment needs')
    if (format === 'verifiers') {
      command.addOption(
        new Option('--for <version>', 'the protocol of which version of verifiers (default: v1)').choices([
          'v1',
          'v0',
        ]),
      )
    }
    endpointOptions(coreOptions(command)).action(async (env: string, _: unknown, given: Command) => {
      const { exportDoorCommand } = await import('./export-door.ts')
      await exportDoorCommand(format, env, given.optsWithGlobals(), io)
      done(exitCodes.done)
    })
  }

  cli
    .command('report')
    .argument('<run>', 'a run folder, or its name in runs/')
    .description('print what a run says')
    .option('--json', 'as JSON')
    .option('--markdown', 'as Markdown')
    .option('--tasks', 'with a line for each task, the worst first')
    .option('--training', 'of a training: what it came to, in place of what its rollouts say')
    .option('--html <file>', 'as one page for a browser, with pictures and trajectories')
    .option(
      '--html-max-mb <mb>',
      'most megabytes of the page; what did not succeed goes in first (default: 30)',
      numberBetween(0),
    )
    .option('--force', 'with --html: overwrite a file that is no report')
    .option(
      '--min-coverage <share>',
      'share of orders that must be scored for a headline (default: 1)',
      share,
    )
    .option(
      '--threshold <rate>',
      'exit with 1 when the success rate is below it: 0.8, or 80%; the mean reward, where success is not declared',
      threshold,
    )
    .action(
      async (run: string, options: Parameters<typeof import('./report-command.ts').reportCommand>[1]) => {
        const { reportCommand } = await import('./report-command.ts')
        done(await reportCommand(run, options, io))
      },
    )

  cli
    .command('show')
    .argument('<run>', 'a run folder, or its name in runs/')
    .argument('[task]', 'a task, or one order of it: TASK#REPEAT')
    .description('show the orders of a run, or one trajectory')
    .option('--worst', 'the lowest reward first; faults, which have none, come last')
    .option('--failed', 'only what did not succeed: faults, orders without a score, failures')
    .option('--private', 'with the secret, the final state and the evidence of graders')
    .option(
      '--call <n>',
      'one model call of it: what the model was told of, asked, and answered',
      wholeNumber(0),
    )
    .option('--full', 'fold no long text')
    .option('--json', 'as JSON')
    .action(
      async (
        run: string,
        task: string | undefined,
        options: Parameters<typeof import('./show-command.ts').showCommand>[2],
      ) => {
        const { showCommand } = await import('./show-command.ts')
        await showCommand(run, task, options, io)
        done(exitCodes.done)
      },
    )

  cli
    .command('rows')
    .argument('<runs...>', 'run folders, or their names in runs/')
    .description('say how exactly the calls of runs were recorded, and write rows to train on')
    .option('--out <file>', 'write the rows to this file')
    .option('--force', 'with --out: overwrite a file that holds no rows')
    .addOption(
      new Option('--as <form>', 'what reads the rows (default: tokens, our own)').choices([
        'tokens',
        'sft',
        'preference',
        'tinker',
        'art',
        'trl',
      ]),
    )
    .addOption(
      new Option('--format <format>', 'of the file (default: by its name, or jsonl)').choices([
        'jsonl',
        'parquet',
      ]),
    )
    .option(
      '--filter <filter>',
      "all, success, or 'reward>=X' in quotes (default: success for sft, else all)",
    )
    .option('--threshold <r>', 'with --filter reward: the least reward', threshold)
    .option('--max-per-task <n>', 'most attempts of a task, or pairs', wholeNumber(1))
    .option('--best-of-n <n>', 'of every n attempts at a task, the best one alone', wholeNumber(1))
    .option('--margin <r>', 'of preference pairs: the least difference of rewards', threshold)
    .addOption(
      new Option('--loss <loss>', 'of tinker: what datums are for (default: rl)').choices([
        'rl',
        'cross_entropy',
      ]),
    )
    .option('--text-only', 'rows of messages, where tokens are not known or not wanted')
    .option('--seat <seat>', 'whose calls (default: agent)')
    .option('--max-length <n>', 'cut rows to so many tokens', wholeNumber(1))
    .option('--drop-truncated', 'leave out rows that were cut, or whose last output ended for its length')
    .option('--min-reward <r>', 'leave out attempts with less', threshold)
    .option('--json', 'print the report as JSON')
    .action(
      async (runs: string[], options: Parameters<typeof import('./rows-command.ts').rowsCommand>[1]) => {
        const { rowsCommand } = await import('./rows-command.ts')
        await rowsCommand(runs, options, io)
        done(exitCodes.done)
      },
    )

  cli
    .command('list')
    .argument('[folder]', 'where the runs are (default: runs/)')
    .description('list runs, newest first')
    .option('--json', 'as JSON')
    .option('--limit <n>', 'so many (default: 50)', wholeNumber(1))
    .action(async (folder: string | undefined, options: { json?: boolean; limit?: number }) => {
      const { listCommand } = await import('./list-command.ts')
      await listCommand(folder, options, io)
      done(exitCodes.done)
    })

  cli
    .command('compare')
    .argument('<runs...>', 'two runs or more, or a folder that holds the runs of several models')
    .description('difference between runs, task by task; the first is what the others are compared with')
    .option('--all-pairs', 'compare all pairs, not each with the first')
    .option(
      '--force',
      'compare what is not the same measurement, and label it; overwrite a file that is no picture of ours',
    )
    .option(
      '--min-coverage <share>',
      "share of orders that must be scored for a headline, and of the first run's tasks that must be compared for --fail-on-regression (default: 1)",
      share,
    )
    .option('--fail-on-regression', 'exit with 1 when a run is worse than the first beyond chance')
    .option(
      '--alpha <p>',
      'how often --fail-on-regression may cry wolf (default: 0.05)',
      numberBetween(0.0001, 0.5),
    )
    .option('--margin <loss>', 'a loss that --fail-on-regression lets pass: 0.02, or 2%', threshold)
    .option('--markdown', 'as Markdown, for a pull request')
    .option('--json', 'as JSON')
    .option('--svg <file>', 'write a picture of cost against success to this file')
    .action(async (runs: string[], options: CompareCommandOptions) => {
      const { compareCommand } = await import('./compare-command.ts')
      done(await compareCommand(runs, options, io))
    })

  return cli
}

const foreignImports = [
  ['verifiers', 'results of verifiers: results.jsonl of v0, traces.jsonl of v1'],
  ['inspect', 'a log of Inspect AI, .json or .eval'],
  ['chat', 'conversations in the chat shape, JSON lines'],
] as const

/**
 * The command line as a function: `argv` without `node` and the script's name. Prints errors as one line and gives
 * the exit code; never throws and never ends the process.
 *
 * @example const code = await runCli(['report', 'runs/x'], { stdout, stderr, env: process.env, cwd: process.cwd() })
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done
  const cli = program(io, (given) => {
    code = given
  })
  try {
    await cli.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version are errors to commander alone; what else it says, it has said.
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    }
    return tellError(error, argv.includes('--verbose'), io)
  }
}

function tellError(error: unknown, verbose: boolean, io: CliIo): ExitCode {
  const known = QuintainError.isInstance(error)
  const what = known
    ? error.message
    : `${messageOf(error)} This is a defect of quintain; --verbose shows where.`
  io.stderr.write(`error ${known ? error.code : 'internal'}: ${printableLine(what)}\n`)
  if (verbose) io.stderr.write(`${traceOf(error)}\n`)
  return known ? exitCodeOfError(error.code) : exitCodes.other
}

function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return printableLine(String(error))
  const own = (error.stack ?? error.message)
    .split('\n')
    .map((line) => printableLine(line))
    .join('\n')
  return error.cause === undefined ? own : `${own}\ncaused by: ${traceOf(error.cause)}`
}
