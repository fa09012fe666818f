import type { ServedEnvironment } from '../session/session.ts'

/** What the package is called: on an index, and in Python. */
export interface PackageNames {
  distribution: string
  module: string
}

export function packageNames({ slug }: ServedEnvironment): PackageNames {
  // A slug is letters, digits and underscores, so both are well formed whatever it is.
  return { distribution: `quintain-${slug.replaceAll('_', '-')}`, module: `quintain_${slug}` }
}

/** A text as a string of TOML, on one line. What no text of TOML may hold is replaced. */
export function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007F')
}

/** A version of npm as one of Python. What Python has no word for becomes a development release. */
export function pythonVersion(version: string): string {
  const parts = /^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+)?)?(-.*|\+.*)?$/.exec(version)
  if (parts === null) return '0.0.0.dev0'
  const [, release, stage, number = '0', rest = ''] = parts
  const staged = stage === undefined ? '' : `${stage === 'rc' ? 'rc' : stage.charAt(0)}${number}`
  return `${release}${staged}${rest.startsWith('-') ? '.dev0' : ''}`
}

export interface PackageOptions {
  names: PackageNames
  environment: ServedEnvironment
  /** Requirements beside the client. */
  requires: readonly string[]
  /** Versions of Python. */
  python: string
  /** More tables, as TOML. */
  tables?: string
}

/** Version of the client whose protocol the packages speak. */
const clientPin = 'quintain-client>=0.1,<0.2'

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

export function pyproject({ names, environment, requires, python, tables = '' }: PackageOptions): string {
  const { name, version, description } = environment
  const about = oneLine(description) || oneLine(name) || names.distribution
  return `[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = ${tomlString(names.distribution)}
version = ${tomlString(pythonVersion(version))}
description = ${tomlString(about)}
readme = "README.md"
requires-python = ${tomlString(python)}
dependencies = [
${[clientPin, ...requires].map((one) => `  ${tomlString(one)},\n`).join('')}]

[tool.hatch.build.targets.wheel]
packages = [${tomlString(names.module)}]
${tables}`
}
