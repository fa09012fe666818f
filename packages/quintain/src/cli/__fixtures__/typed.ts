import { runCli } from '../run-cli.ts'

/** Runs the command line as it is typed in a folder, and gives what it printed and its exit code. */
export async function typed(cwd: string, argv: readonly string[]) {
  const said = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof said) => ({
    write: (text: string) => {
      said[name] += text
    },
  })
  const code = await runCli([...argv], { stdout: sink('stdout'), stderr: sink('stderr'), env: {}, cwd })
  return { code, ...said }
}
