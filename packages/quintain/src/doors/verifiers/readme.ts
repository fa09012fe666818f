import type { ServedEnvironment } from '../session/session.ts'
import type { PackageNames } from './package-text.ts'

export interface ReadmeOptions {
  environment: ServedEnvironment
  names: PackageNames
  reference: string
  version: 'v1' | 'v0'
  url: string | undefined
}

export function readme({ environment, names, reference, version, url }: ReadmeOptions): string {
  const { name, version: of, digest } = environment
  const run = version === 'v1' ? runV1(names) : runV0(names)
  const server =
    url === undefined
      ? `Without more, the package starts a server by itself: \`npx --no quintain serve ${oneLine(reference)} --door native …\`, in the folder that \`QUINTAIN_CWD\` names (the current one without it).`
      : `The package plays on the server at ${oneLine(url)}.`
  return `# ${names.distribution}

${oneLine(name)} ${oneLine(of)} for \`verifiers\` (${version}), written by \`quintain export verifiers --for ${version}\`.
The environment runs in Node, behind \`quintain serve\`; this package plays episodes there and passes on what they earned.
Its tasks are listed in \`${names.module}/tasks.jsonl\`, public parts only.

${run}

${server} With \`QUINTAIN_URL\` (and \`QUINTAIN_TOKEN\`) it plays on a server that runs already, which is better where
several processes play. \`QUINTAIN_COMMAND\` replaces \`npx --no quintain\`.

Rewards and metrics have the names and weights of the environment. What fails is an error of the rollout and never a
reward of 0. Only the environment with the digest \`${digest.slice(0, 12)}\` is accepted: export again when it changes.
`
}

function runV1({ distribution }: PackageNames): string {
  return `\`\`\`sh
pip install .
env eval ${distribution} --model MODEL -n 5 --no-push
env eval ${distribution} --env.taskset.split train
\`\`\`

(\`eval\` alone is a word of the shell; from verifiers 0.4 on, the command is called \`vf-eval\`.) The agent is played by a loop of this package, in the process of the evaluation. Other harnesses get the tools by MCP
(\`--env.agent.harness.id null\`); where the environment answers what the agent says, they must be able to resume.`
}

function runV0({ distribution }: PackageNames): string {
  return `\`\`\`sh
pip install .
vf-eval ${distribution} -m MODEL -n 5 -r 1
\`\`\``
}

/** A text as it may stand within a line of Markdown. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('`', "'")
}
