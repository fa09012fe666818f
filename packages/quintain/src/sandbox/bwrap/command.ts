import type { ExecOptions, ExecResult } from '../../core/sandbox.ts'
import { boxPath, bytesOfName } from '../box-name.ts'
import { type BoxPlan, checkVariables } from '../box-options.ts'
import { outputFields, type StreamOutput } from '../command-output.ts'
import { notStarted, signalName, toCommand } from '../exec-result.ts'
import type { Talks } from '../talks.ts'
import { unpackFields } from './channel.ts'
import type { BoxLink } from './link.ts'

/** How long a command that was killed may take to be dead before its box is ended for it. */
const killGraceMs = 10_000
/** Of the output of a command that is talked with, none is held back. */
const unlimited = 2 ** 40

/** Runs a command in a box. Throws a sandbox fault when the box is gone. */
export async function runCommand(
  { link, plan, talks }: { link: BoxLink; plan: BoxPlan; talks: Talks },
  command: string | readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  checkVariables(options.env ?? {})
  const began = performance.now()
  link.check()
  const talk = options.talk === undefined ? undefined : talks.begin(options.talk)
  const never = (reason: Parameters<typeof notStarted>[0]) => {
    talk?.end()
    return notStarted(reason, began)
  }
  const argv = toCommand(command, link.housing.shell)
  const cwd = boxPath(options.cwd ?? plan.workdir, plan.workdir)
  if (argv === undefined || cwd === undefined) return never('invalid')
  if (options.signal?.aborted) return never('aborted')
  if (link.isRuined) return never('no_process')
  const { limits } = plan
  const { housing } = link
  const killsBefore = housing.outOfMemoryKills()
  const id = link.nextId()
  const out: Collected = { parts: [], bytes: 0, written: 0 }
  const err: Collected = { parts: [], bytes: 0, written: 0 }
  const cap = Math.min(options.outputBytes ?? limits.outputBytes, limits.outputBytes)
  const finished = (fields: Partial<ExecResult>): ExecResult => {
    const kills = housing.outOfMemoryKills()
    return {
      exitCode: null,
      signal: null,
      timedOut: false,
      aborted: false,
      outOfMemory: kills === null || killsBefore === null ? null : kills > killsBefore,
      ...outputFields(kept(out, cap), kept(err, cap), options.binary === true),
      durationMs: performance.now() - began,
      ...fields,
    }
  }
  return new Promise<ExecResult>((resolve, reject) => {
    let ended: { timedOut: boolean; aborted: boolean } = { timedOut: false, aborted: false }
    let stuck: NodeJS.Timeout | undefined
    const kill = (why: Partial<typeof ended>) => {
      if (ended.timedOut || ended.aborted) return
      ended = { ...ended, ...why }
      link.send('k', id, [])
      // Whoever made it so that it cannot be ended loses the box.
      stuck = setTimeout(() => link.ruin(), killGraceMs)
    }
    const deadline = setTimeout(
      () => kill({ timedOut: true }),
      Math.min(options.wallMs ?? limits.wallMs, limits.wallMs),
    )
    const abort = () => kill({ aborted: true })
    options.signal?.addEventListener('abort', abort, { once: true })
    const settle = (result: Partial<ExecResult> | Error) => {
      clearTimeout(deadline)
      clearTimeout(stuck)
      options.signal?.removeEventListener('abort', abort)
      link.forget(id)
      talk?.end()
      if (result instanceof Error) reject(result)
      else resolve(finished({ ...result, ...ended }))
    }
    link.wait(id, {
      frame: ({ type, body }) => {
        if (type === 'o') {
          if (talk === undefined) collect(out, body)
          else talk.hear(body)
        } else if (type === 'p') collect(err, body)
        else if (type === 'E') settle({ notStarted: startRefusal(body.toString('latin1')) })
        else if (type === 'X') {
          const [code, signal, wroteOut, wroteErr] = unpackFields(body).map(Number)
          if (talk === undefined) out.written = wroteOut!
          err.written = wroteErr!
          settle(signal === 0 ? { exitCode: code! } : { signal: signalName(signal!) })
        }
      },
      gone: () => {
        out.written = out.bytes
        err.written = err.bytes
        if (link.isRuined || ended.timedOut || ended.aborted) settle({ signal: 'SIGKILL' })
        else settle(link.fault())
      },
    })
    const env = Object.entries({ ...plan.env, ...options.env })
    const { stdin } = options
    const fields = [
      cwd,
      talk === undefined ? cap : unlimited,
      cap,
      Math.ceil(limits.cpuMs / 1000),
      stdin === undefined && talk === undefined ? '' : 1,
      env.length,
    ]
    link.send('x', id, [...fields, ...env.flat(), ...argv].map(encoded))
    if (stdin !== undefined && stdin.length > 0) link.sendBytes('i', id, Buffer.from(stdin as string))
    if (talk !== undefined) talk.attach((input) => link.sendBytes('i', id, input))
    else if (stdin !== undefined) link.sendBytes('e', id)
  })
}

interface Collected {
  parts: Buffer[]
  bytes: number
  written: number
}

function collect(into: Collected, body: Buffer): void {
  // Copied: a frame is a view into what was received with it.
  into.parts.push(Buffer.from(body))
  into.bytes += body.length
}

function kept({ parts, written, bytes }: Collected, cap: number): StreamOutput {
  const all = Buffer.concat(parts)
  return { bytes: all, head: Math.min(bytes, Math.floor(cap / 2)), written: Math.max(written, bytes) }
}

function encoded(field: string | number): string | number | Uint8Array {
  return typeof field === 'string' ? bytesOfName(field) : field
}

function startRefusal(text: string): NonNullable<ExecResult['notStarted']> {
  const known = ['not_found', 'not_executable', 'no_folder', 'no_process', 'too_long'] as const
  return known.find((reason) => reason === text) ?? 'not_executable'
}
