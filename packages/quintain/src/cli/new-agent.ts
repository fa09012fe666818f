import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { didYouMean, QuintainError } from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import { printableLine } from '../report/index.ts'
import type { CliIo } from './io.ts'
import {
  checkedTarget,
  copyTemplate,
  fileDependency,
  nextSteps,
  ownDependency,
  packageRoot,
} from './new-package.ts'

/** Agents of frameworks that people use, each a folder of `template/agents`. Those of `lines` are one program for a conversation. */
const examples: Readonly<Record<string, { lines: boolean }>> = {
  'ai-sdk': { lines: true },
  'ai-sdk-6': { lines: false },
  'openai-agents': { lines: true },
  langgraph: { lines: true },
  mastra: { lines: true },
  openai: { lines: false },
  'openai-responses': { lines: false },
  anthropic: { lines: true },
  python: { lines: false },
  'coding-agent': { lines: false },
  'own-tools': { lines: false },
}

export const agentExamples: readonly string[] = Object.keys(examples)

const folderOf = (name: string) => join(packageRoot, 'template', 'agents', name)

interface Manifest {
  description: string
  scripts: Record<string, string>
}

async function manifestOf(example: string): Promise<Manifest> {
  const path = join(folderOf(example), 'package.json')
  if (!existsSync(path))
    throw new QuintainError('internal', `The template ${path} is missing from this installation.`)
  return JSON.parse(await readFile(path, 'utf8')) as Manifest
}

/** Prints what `init --agent NAME` can make. */
export async function listAgents(io: CliIo): Promise<void> {
  const lines = [
    'quintain init --agent NAME [PACKAGE] makes an agent and what evaluates it. NAME is one of:',
    '',
    ...(await Promise.all(
      agentExamples.map(async (name) => `  ${name.padEnd(18)}${(await manifestOf(name)).description}`),
    )),
    '',
    'Or the path of a file: a package with tasks and a test round the agent that is there.',
  ]
  for (const line of lines) io.stdout.write(`${printableLine(line)}\n`)
}

/** Makes a package of an agent of a framework and of how it is evaluated. */
export async function initAgent(
  example: string,
  { name = `my-${example}-agent`, dir }: { name?: string | undefined; dir?: string | undefined },
  io: CliIo,
): Promise<void> {
  const target = await checkedTarget(name, dir, io.cwd)
  const { description, scripts } = await manifestOf(example)
  await mkdir(target, { recursive: true })
  const own = await ownDependency(target)
  const orders = await ordersDependency(target, own)
  const setup = scripts['setup'] === undefined ? '' : '\nnpm run setup'
  const written: string[] = []
  for (const part of ['shared', ...(examples[example]?.lines ? ['lines'] : []), example]) {
    const files = await copyTemplate(folderOf(part), target, (text) =>
      text
        .replaceAll('__NAME__', () => name)
        .replaceAll('__EXAMPLE__', () => example)
        .replaceAll('__ABOUT__', () => description)
        .replaceAll('__SETUP__', () => setup)
        .replaceAll('__QUINTAIN__', () => own)
        .replaceAll('__ORDERS__', () => orders),
    )
    written.push(...files)
  }
  const shown = relative(io.cwd, target) || '.'
  const lines = [
    `Made ${name} in ${shown}: ${description}`,
    ...written.map((file) => `  ${relative(io.cwd, file)}`),
    '',
    ...nextSteps(shown, io, [
      ...(setup === '' ? [] : ['  npm run setup']),
      '  npm run eval                          # a script in the place of the model; no key is needed',
      '  npm run eval:model -- -m gpt-5-mini   # a model, with OPENAI_API_KEY set',
    ]),
  ]
  for (const line of lines) io.stdout.write(`${printableLine(line)}\n`)
}

/** The environment that the examples are evaluated in: of the same release, of the same checkout, or a tarball packed with ours. */
export async function ordersDependency(from: string, own: string): Promise<string> {
  if (!own.startsWith('file:')) return own
  if (own.endsWith('.tgz')) {
    const ours = resolve(from, own.slice('file:'.length))
    const tarball = join(dirname(ours), basename(ours).replace(/^quintain-/, 'quintain-orders-'))
    return existsSync(tarball) ? fileDependency(from, tarball) : quintainVersion
  }
  return fileDependency(from, join(packageRoot, '..', '..', 'environments', 'orders'))
}

/** What is said of an agent that is neither an example nor a file. */
export function unknownAgent(agent: string, path: string): QuintainError {
  const near = /[./\\]/.test(agent) ? '.' : didYouMean(agent, agentExamples)
  return new QuintainError(
    'usage',
    `There is no agent file ${path}, and no example ${JSON.stringify(agent)}${near} \`quintain init --agent\` lists the examples.`,
    { facts: { agent } },
  )
}
