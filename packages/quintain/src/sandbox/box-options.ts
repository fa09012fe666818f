import { posix } from 'node:path'
import { QuintainError } from '../core/errors.ts'
import {
  type BoxFiles,
  type BoxLimits,
  type BoxMount,
  type BoxOptions,
  type BoxSocket,
  defaultBoxLimits,
} from '../core/sandbox.ts'
import { boxPath } from './box-name.ts'

/** A file as every driver makes it: an absolute path, and bytes or where a link leads. */
export type PlacedFile = { path: string; mode: number; data: Uint8Array } | { path: string; link: string }

/** Options after their checks, with every default filled in. */
export interface BoxPlan {
  image: string | undefined
  workdir: string
  files: PlacedFile[]
  readOnlyFiles: PlacedFile[]
  env: Record<string, string>
  limits: BoxLimits
  sockets: readonly BoxSocket[]
  mounts: readonly BoxMount[]
  label: string
}

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
export const boxHome = '/home/box'

/** Every option there is: one that is misspelt would be none, and nobody would notice. */
const known: Record<keyof BoxOptions, true> = {
  image: true,
  workdir: true,
  files: true,
  readOnlyFiles: true,
  env: true,
  limits: true,
  network: true,
  mounts: true,
  label: true,
  signal: true,
}

/** Throws `options_invalid` for what no driver can honour. */
export function planBox(options: BoxOptions = {}): BoxPlan {
  for (const name of Object.keys(options))
    if (!Object.hasOwn(known, name)) invalid(name, `there are ${Object.keys(known).join(', ')}`)
  const workdir = absolute(options.workdir ?? '/box', 'workdir')
  return {
    image: options.image,
    workdir,
    files: placeFiles(options.files ?? {}, workdir, 'files'),
    readOnlyFiles: placeFiles(options.readOnlyFiles ?? {}, workdir, 'readOnlyFiles'),
    env: planVariables(options.env ?? {}, workdir),
    limits: planLimits(options.limits ?? {}),
    sockets: planSockets(options.network),
    mounts: (options.mounts ?? []).map(({ source, target }) => ({
      source: absolute(source, 'mounts: source'),
      target: absolute(target, 'mounts: target'),
    })),
    label: (options.label ?? '').replace(/[^\x20-\x7e]+/g, ' ').slice(0, 100),
  }
}

/** Refuses for a driver what it cannot do, with what to do instead. */
export function refuseOption(driver: string, option: string, instead: string): never {
  throw new QuintainError('options_invalid', `${option}: the sandbox driver ${driver} ${instead}.`, {
    facts: { driver, option },
  })
}

function invalid(option: string, message: string): never {
  throw new QuintainError('options_invalid', `box option ${option}: ${message}.`, { facts: { option } })
}

function absolute(path: string, option: string): string {
  if (typeof path !== 'string' || !posix.isAbsolute(path)) invalid(option, 'give an absolute path')
  return boxPath(path, '/') ?? invalid(option, 'a path cannot hold a NUL character')
}

/** Names and values as a process can carry them. Also for the variables of one command. */
export function checkVariables(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      invalid('env', `${JSON.stringify(name)} is no name of a variable`)
    // The value is not shown: it may be a credential.
    if (typeof value !== 'string' || value.includes('\0'))
      invalid('env', `the value of ${name} is no text without NUL characters`)
  }
}

function planVariables(declared: Readonly<Record<string, string>>, workdir: string): Record<string, string> {
  checkVariables(declared)
  const own = {
    PATH: searchPath,
    HOME: boxHome,
    LANG: 'C.UTF-8',
    USER: 'box',
    SHELL: '/bin/bash',
    PWD: workdir,
  }
  return { ...own, ...declared }
}

function planLimits(given: Partial<BoxLimits>): BoxLimits {
  const limits = { ...defaultBoxLimits }
  for (const [name, value] of Object.entries(given)) {
    if (!(name in limits)) invalid(`limits.${name}`, `there are ${Object.keys(limits).join(', ')}`)
    if (value === undefined) continue
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
      invalid(`limits.${name}`, 'give a number above zero')
    Object.assign(limits, { [name]: value })
  }
  return limits
}

function placeFiles(files: BoxFiles, workdir: string, option: string): PlacedFile[] {
  return Object.entries(files).map(([name, content]) => {
    const path = boxPath(name, workdir)
    if (path === undefined || path === '/')
      return invalid(option, `${JSON.stringify(name)} is no path of a file`)
    if (typeof content === 'string') return { path, mode: 0o644, data: Buffer.from(content, 'utf8') }
    if (content instanceof Uint8Array) return { path, mode: 0o644, data: content }
    if ('link' in content) return { path, link: content.link }
    const { data, mode = 0o644 } = content
    return { path, mode: mode & 0o777, data: typeof data === 'string' ? Buffer.from(data, 'utf8') : data }
  })
}

function planSockets(network: BoxOptions['network']): readonly BoxSocket[] {
  if (network === undefined || network === 'none') return []
  if (typeof network !== 'object' || !Array.isArray(network.sockets))
    invalid('network', "give 'none' or { sockets: [{ box, host }] }; a box never has the host's network")
  for (const { box, host } of network.sockets) {
    for (const end of [box, host]) {
      if ('path' in end) absolute(end.path, 'network')
      else if (!Number.isInteger(end.port) || end.port < 1 || end.port > 65_535)
        invalid('network', 'a port is a whole number from 1 to 65535')
    }
  }
  return network.sockets
}
