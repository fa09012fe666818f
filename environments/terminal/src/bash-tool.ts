import { type Box, type ExecResult, tool } from 'quintain'
import { z } from 'zod'
import type { Terminal } from './terminal.ts'

/** The longest that a command may ask for, in seconds. */
export const longestTimeout = 120

const input = z.object({
  command: z.string().min(1).describe('What bash is to run.'),
  timeout: z
    .int()
    .min(1)
    .max(longestTimeout)
    .optional()
    .describe('Seconds after which it is ended; 30 if you do not say.'),
})

/** In the box's temporary folder. The agent may write what it likes there, and harms nobody but itself. */
const cwdFile = '/tmp/.terminal-cwd'

/**
 * Each command has a shell of its own, so that one that hangs or breaks its shell costs the agent that command alone.
 * Where it ended up is kept in a file, since output is the agent's. The interpreter in memory knows no `trap`, so the
 * folder is written at the end as well.
 */
const shell = `
terminal_cwd=\${TMPDIR:-/tmp}/.terminal-cwd
trap 'pwd -P > "$terminal_cwd"' EXIT 2> /dev/null
eval "$1"
terminal_status=$?
pwd -P > "$terminal_cwd"
exit $terminal_status
`

/** `bash`, in the box of a terminal. What the command does wrong, it reads; a box that is lost is a fault. */
export function bashTool(terminal: Terminal) {
  return tool({
    name: 'bash',
    description:
      'Runs a command with bash and gives its output. The working directory is kept from one call to the next; variables and functions are not. There is no terminal and no input.',
    input,
    async run({ command, timeout = terminal.options.commandTimeout }, { signal }) {
      const { box, state } = terminal
      const where = terminal.cwd
      const result = await box.exec(['bash', '-c', shell, 'bash', command], {
        cwd: where,
        wallMs: timeout * 1000,
        outputBytes: terminal.options.outputBytes,
        signal,
      })
      terminal.cwd = result.notStarted === 'no_folder' ? box.workdir : await cwdAfter(box, where)
      state.commands += 1
      if (result.timedOut) state.timeouts += 1
      if (result.exitCode !== null && result.exitCode !== 0) state.failures += 1
      if (result.truncated.stdout || result.truncated.stderr) state.truncations += 1
      return outputText(result, { where, timeout })
    },
  })
}

async function cwdAfter(box: Box, before: string): Promise<string> {
  const file = await box.read(cwdFile, { maxBytes: 10_000 })
  if (!file.ok) return before
  const path = Buffer.from(file.data).toString('utf8').replace(/\n$/, '')
  return path.startsWith('/') && !/[\0\n]/.test(path) ? path : before
}

/** What the agent reads of a command: output, then errors, then how it ended where that is worth a word. */
export function outputText(
  result: ExecResult,
  { where, timeout }: { where: string; timeout: number },
): string {
  if (result.notStarted === 'no_folder')
    return `[the folder ${where} is gone; the next command starts in the first one]`
  if (result.notStarted === 'too_long')
    return '[not run: the command is too long; write it to a file in parts]'
  if (result.notStarted !== undefined) return '[not run: no new process could be started]'
  const parts = [result.stdout.replace(/\n$/, '')]
  if (result.stderr !== '') parts.push(`[stderr]\n${result.stderr.replace(/\n$/, '')}`)
  if (result.timedOut) parts.push(`[ended after ${timeout} s, since it had not ended by itself]`)
  else if (result.signal !== null) parts.push(`[ended by ${result.signal}]`)
  else if (result.exitCode !== 0) parts.push(`[exit code ${result.exitCode}]`)
  if (result.outOfMemory === true) parts.push('[a process was ended, since the box had no memory left]')
  return parts.filter((part) => part !== '').join('\n') || '[no output]'
}
