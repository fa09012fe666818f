import type { Harness } from '../../core/index.ts'
import { converse } from '../conversation.ts'
import { type CommandOptions, isArgv, planCommand } from './options.ts'

/**
 * The harness of an agent that is a program, in any language: it is started for each attempt, finds its model, its tools
 * and its task in variables (see docs/agents.md), and answers by what it prints. It runs with our rights unless it is
 * given a `sandbox`.
 *
 * Throws `usage` for options that do not go together and for a program that is not there.
 *
 * @example command(['node', '/srv/agent/main.js'])
 */
export function command(given: readonly string[] | CommandOptions): Harness {
  const plan = planCommand(given)
  return {
    name: `command:${plan.name}@1`,
    // Text on the input or in arguments holds no image.
    carries: { turns: true, tools: true, images: plan.turns === 'lines' || plan.task === 'file' },
    runs: 'outside',
    identity: JSON.stringify(isArgv(given) ? given : given.argv),
    ...(plan.where.kind === 'world' ? { needsBox: true } : {}),
    async run(context) {
      // What starts programs is loaded by whoever starts one: environments import this in every worker.
      const { CommandSession } = await import('./command-session.ts')
      const session = new CommandSession(plan, context)
      try {
        return await converse(context, (question) => session.ask(question))
      } finally {
        await session.close()
      }
    },
  }
}
