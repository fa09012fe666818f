import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

/** Runs the Python programs, and counts what was as it should be. */
export class Peers {
  passed = 0
  failed = 0
  private readonly interpreter: string

  constructor(interpreter: string) {
    this.interpreter = interpreter
  }

  check(name: string, actual: unknown, expected: unknown): void {
    const same = isDeepStrictEqual(actual, expected)
    if (same) this.passed++
    else this.failed++
    const shown = (value: unknown) => (JSON.stringify(value) ?? 'undefined').slice(0, 800)
    process.stdout.write(
      `openenv: ${name} ${same ? 'pass' : `fail: ${shown(actual)}, not ${shown(expected)}`}\n`,
    )
  }

  /** Runs a script beside this file, and gives what it printed. */
  async ask<Told>(script: string, wish: Record<string, unknown>): Promise<Told> {
    const { code, out } = await this.run([join(import.meta.dirname, script)], JSON.stringify(wish))
    if (code !== 0) throw new Error(`${script} ended with ${code}`)
    return JSON.parse(out) as Told
  }

  run(args: readonly string[], input = ''): Promise<{ code: number | null; out: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.interpreter, args, {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { PATH: process.env['PATH'], HF_HUB_OFFLINE: '1', PYTHONDONTWRITEBYTECODE: '1' },
      })
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text
      })
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, out }))
      child.stdin.end(input)
    })
  }
}
