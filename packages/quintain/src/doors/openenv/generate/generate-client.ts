import type { ToolSpec } from '../../../core/index.ts'
import type { ServedEnvironment } from '../../session/session.ts'
import { pythonClient } from './python-client.ts'
import { type PythonNames, pythonModels } from './python-models.ts'
import { docText } from './python-text.ts'
import { pythonTrl } from './python-trl.ts'

export interface GenerateOptions {
  environment: ServedEnvironment
  /** All that clients for tools are shown, the one by which an agent speaks too. */
  tools: readonly ToolSpec[]
  /** Where the server is. */
  url: string
  /** Words of the command that serves the environment, behind `quintain serve`. */
  served: readonly string[]
  /** The split that rows are taken of. */
  split: string
}

/** Releases of `openenv` whose client was tried with what is generated. */
const openenvPin = 'openenv>=0.10,<0.11'

/**
 * A Python package for an environment: a typed client of OpenEnv, and a class for TRL. Gives the text of each file by its
 * path. Names and descriptions of tools may hold anything.
 */
export function generateClient(options: GenerateOptions): Record<string, string> {
  const { environment, tools, url, split } = options
  const names = pythonNames(environment)
  const { module, prefix } = names
  const about = environment.name
  const acts = environment.needs.includes('tools')
  return {
    'pyproject.toml': pyproject(environment, names),
    'README.md': readme(options, names),
    [`${module}/__init__.py`]: `"""${docText(about)} by OpenEnv."""

from .client import DEFAULT_URL, ${prefix}Env
from .models import ${prefix}Action, ${prefix}Observation, ${prefix}State
from .trl_environment import ${prefix}Environment, rows

__all__ = [
    "DEFAULT_URL",
    "${prefix}Action",
    "${prefix}Env",
    "${prefix}Environment",
    "${prefix}Observation",
    "${prefix}State",
    "rows",
]
`,
    [`${module}/models.py`]: pythonModels({ names, about, tools: acts ? tools : undefined }),
    [`${module}/client.py`]: pythonClient({ names, about, url }),
    [`${module}/trl_environment.py`]: pythonTrl({ names, about, slug: environment.slug, split, tools }),
    [`${module}/py.typed`]: '',
  }
}

/** `wordle` is the module `wordle_env` with `WordleEnv`, as environments of OpenEnv are called. */
export function pythonNames({ slug }: ServedEnvironment): PythonNames {
  const words = slug.split('_').filter((word) => word !== '')
  const prefix = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  const digit = /^[0-9]/.test(prefix)
  return { module: `${digit ? 'env_' : ''}${slug}_env`, prefix: digit ? `Env${prefix}` : prefix }
}

function pyproject({ slug, name, version }: ServedEnvironment, { module }: PythonNames): string {
  const release = /^\d+\.\d+\.\d+$/.test(version) ? version : '0.0.0'
  return `[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "openenv-${slug.replaceAll('_', '-').replace(/^-+|-+$/g, '')}"
version = "${release}"
description = ${tomlText(`Client of ${name} ${version} by OpenEnv.`)}
readme = "README.md"
requires-python = ">=3.10"
dependencies = ["${openenvPin}"]

[tool.hatch.build.targets.wheel]
packages = ["${module}"]
`
}

function tomlText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007F')
}

function readme({ environment, url, served }: GenerateOptions, { module, prefix }: PythonNames): string {
  const { name, needs } = environment
  const step = needs.includes('tools')
    ? `${prefix}Action(tool_name="...", arguments={...})`
    : `${prefix}Action(message="...")`
  return `# ${name.replace(/[^\w@/.-]/g, '')} by OpenEnv

Start the server, and say where it is if it is not at ${url}:

    npx quintain serve ${served.map(shellWord).join(' ')} --door openenv --port 8000
    export ${module.toUpperCase()}_URL=http://127.0.0.1:8000

A server that wants a token is shown the one in \`${module.toUpperCase()}_TOKEN\`.

Play:

    from ${module} import ${prefix}Action, ${prefix}Env

    with ${prefix}Env().sync() as env:
        result = env.reset(split="train", index=0)
        print(result.observation.text)
        result = env.step(${step})

Train with TRL:

    from datasets import Dataset
    from ${module} import ${prefix}Environment, rows

    GRPOTrainer(environment_factory=${prefix}Environment, train_dataset=Dataset.from_list(rows()), ...)

The server tells tasks, resets and rewards to whoever reaches it: give its address to trainers, not to agents. An episode that
failed for a reason that is nobody's score raises an error in the client and is \`None\` in TRL, which leaves it out.
`
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
