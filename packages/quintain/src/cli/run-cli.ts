import { Command, CommanderError, Option } from 'commander'
import { messageOf, QuintainError } from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import { printableLine } from '../report/index.ts'
import type { NamedAgent } from './agents.ts'
import type { CompareCommandOptions } from './compare-command.ts'
import type { EvalOptions, NamedPlayer } from './eval-command.ts'
import { type ExitCode, exitCodeHelp, exitCodeOfError, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { change, collect, collectPrices, numberBetween, share, threshold, wholeNumber } from './parse.ts'
import type { ResumeCommandOptions } from './resume-command.ts'

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
    .option('--agent-url <url>', 'an agent of yours that is a service', (url) => {
      agents.push({ url })
    })
}

/** Options of commands that run attempts. */
function sessionOptions(command: Command): Command {
  return command
    .option('--concurrency <n>', 'rollouts in flight', wholeNumber(1))
    .option('--workers <n>', 'worker processes (default: one per core)', wholeNumber(1))
    .option(
      '--sandbox <driver>',
      'what boxes run in, for an environment that needs them: bwrap, docker, podman, bash, process (default: the strongest of the first three that is here)',
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
          'the model that plays: a name, or anthropic:NAME or responses:NAME for the protocol that it is asked in; several take turns and are compared',
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
            'a run folder, or its name in runs/; or the folder of the runs of several models',
          )
          .description('go on with a run, or order more into it'),
        resumed,
      )
        .option('-n, --tasks <n>', 'order up to so many tasks', wholeNumber(0))
        .option('--task <id>', 'order this task too (may be repeated)', collect)
        .option('-r, --repeats <n>', 'order up to so many attempts of each task', wholeNumber(1))
        .option('--split <name>', 'tasks of this split')
        .option('--no-retry-faults', 'leave orders alone that ended in a fault')
        .option('--force', 'go on although the environment has changed'),
    ),
  ).action(async (run: string, options: ResumeCommandOptions) => {
    const { resumeCommand } = await import('./resume-command.ts')
    done(await resumeCommand(run, { ...options, agents: resumed }, io))
  })

  cli
    .command('import')
    .argument('<file>', 'recorded conversations: JSON lines or a JSON array')
    .option('--as <format>', 'tau-bench or chat (default: what the file looks like)')
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

  cli
    .command('report')
    .argument('<run>', 'a run folder, or its name in runs/')
    .description('print what a run says')
    .option('--json', 'as JSON')
    .option('--markdown', 'as Markdown')
    .option('--tasks', 'with a line for each task, the worst first')
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
    .option('--worst', 'the worst first')
    .option('--failed', 'only what did not succeed, the worst first')
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
    .argument('<run>', 'a run folder, or its name in runs/')
    .description('say how exactly the calls of a run were recorded, and write training rows')
    .option('--out <file>', 'write the rows to this file, one JSON object a line')
    .option('--force', 'with --out: overwrite a file that holds no rows')
    .option('--text-only', 'rows of messages, where tokens are not known or not wanted')
    .option('--seat <seat>', 'whose calls (default: agent)')
    .option('--max-length <n>', 'cut rows to so many tokens', wholeNumber(1))
    .option('--drop-truncated', 'leave out rows that were cut, or whose last output ended for its length')
    .option('--min-reward <r>', 'leave out attempts with less', threshold)
    .option('--json', 'print the report as JSON')
    .action(async (run: string, options: Parameters<typeof import('./rows-command.ts').rowsCommand>[1]) => {
      const { rowsCommand } = await import('./rows-command.ts')
      await rowsCommand(run, options, io)
      done(exitCodes.done)
    })

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
