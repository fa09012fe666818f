import { environment } from 'quintain'
import { z } from 'zod'
import { longestTimeout } from './bash-tool.ts'
import { judge } from './judgement.ts'
import { cheat, random } from './policies.ts'
import { type Check, taskFolder, taskFolders } from './task-folder.ts'
import { Terminal, workdir } from './terminal.ts'

const options = z.object({
  /** `in-memory`: only the tasks that can be done in a shell in memory, which `--sandbox bash` can run. */
  tasks: z.enum(['all', 'in-memory']).default('all'),
  /** Seconds of a command that does not say how long it may take. */
  commandTimeout: z.int().min(1).max(longestTimeout).default(30),
  /** Bytes that are shown of each output stream of a command. */
  outputBytes: z.int().min(256).max(262_144).default(16_384),
})
type Options = z.infer<typeof options>

const chosen = ({ tasks }: Options) => taskFolders().filter(({ inMemory }) => tasks === 'all' || inMemory)

interface Secret {
  checks: Check[]
  solution: string
}

export default environment({
  options,
  system:
    'You work at a small Linux machine without a network, through the tool `bash`. You are in the folder that the task ' +
    'speaks of. Do what the task asks for, look whether it is done, and then say so in a few words without calling a ' +
    'tool: that ends your work. What counts is what is there by then. Tests that you do not see look at it.',
  tasks: ({ options }) =>
    chosen(options).map(({ id, kind, instruction, artefacts, filesDigest, checks, solution }) => {
      const secret: Secret = { checks, solution }
      return { id, prompt: instruction, data: { kind, artefacts, filesDigest }, secret, tags: [kind] }
    }),
  limits: { turns: 40, wall: '15m', tool: `${longestTimeout + 30}s`, grade: '5m' },
  needs: ['tools'],
  sandbox: ({ options }) => ({
    // An interpreter in memory has no git, no sqlite3 as it is elsewhere, and nothing that runs in the background.
    drivers: ['bwrap', 'docker', 'podman', 'process', ...(options.tasks === 'in-memory' ? ['bash'] : [])],
    artefacts: [...new Set(chosen(options).flatMap(({ artefacts }) => artefacts))].map(
      (path) => `${workdir}/${path}`,
    ),
    limits: { wallMs: longestTimeout * 1000, memoryMb: 512, pids: 128, diskMb: 128 },
  }),

  world: (task, { options, sandbox }) => Terminal.open(taskFolder(task.id), sandbox, options),

  rewards: {
    solved: async ({ task, state, sandbox }) => {
      const checked = await judge(state, sandbox, task.secret.checks)
      return {
        value: Number(checked.length > 0 && checked.every(({ passed }) => passed)),
        checks: { expected: task.secret.checks.length, run: checked.length },
        explain: checked,
      }
    },
  },
  metrics: {
    passed: async ({ task, state, sandbox }) => {
      const checked = await judge(state, sandbox, task.secret.checks)
      return checked.filter(({ passed }) => passed).length / checked.length
    },
    commands: ({ state }) => state.commands,
    failures: ({ state }) => state.failures,
    timeouts: ({ state }) => state.timeouts,
  },
  success: ({ rewards }) => rewards.solved === 1,

  *oracle({ task }) {
    yield { tool: 'bash', arguments: { command: task.secret.solution, timeout: longestTimeout } }
    return 'It is done.'
  },
  policies: { random, cheat },
  floor: ['noop', 'random', 'cheat'],
})
