// Builds the kernels of the embedded engine: `node scripts/build-kernels.ts` writes kernels.wasm, `--check` builds it anew and
// compares. The bytes are those of one version of clang; with another, or none, the check is skipped, aloud. Which source
// they are of stands in the bytes, so that a source that was changed and not built is found without a compiler.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The version of clang and lld whose bytes are committed: that of Debian 12. */
export const clangVersion = '14.0.6'

const root = join(fileURLToPath(import.meta.url), '../..')
const folder = join(root, 'packages/quintain/src/train/embedded')
const source = join(folder, 'kernels.c')
const committed = join(folder, 'kernels.wasm')
/** Section that names the source: SHA-256 of kernels.c, in hex. */
const sourceSection = 'quintain.source'

const flags = [
  '--target=wasm32',
  '-std=c11',
  '-O3',
  // Strength reduction computes an address for every load of an unrolled loop; without it they are offsets of a few pointers, and
  // training is an eighth quicker.
  '-mllvm',
  '-disable-lsr',
  '-msimd128',
  '-matomics',
  '-mbulk-memory',
  '-mmutable-globals',
  '-ffreestanding',
  // The order of operations is part of what the kernels promise.
  '-ffp-contract=off',
  '-fno-fast-math',
  '-nostdlib',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Wl,--no-entry',
  '-Wl,--import-memory',
  '-Wl,--shared-memory',
  `-Wl,--max-memory=${2 ** 31}`,
  '-Wl,--export=__stack_pointer',
  '-Wl,--strip-all',
]

export interface Built {
  /** Of clang, as it says it; undefined where there is none. */
  version: string | undefined
  bytes: Buffer | undefined
}

/** Compiles kernels.c. Throws with the words of clang where it refuses, and where the kernels have data of their own. */
export function buildKernels(): Built {
  const version = versionOf('clang')
  if (version === undefined) return { version, bytes: undefined }
  const scratch = mkdtempSync(join(tmpdir(), 'quintain-kernels-'))
  try {
    const out = join(scratch, 'kernels.wasm')
    // From its own folder, so that no path of this machine gets into the bytes.
    const { status, stderr } = spawnSync('clang', [...flags, '-o', out, 'kernels.c'], {
      cwd: folder,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`clang refused kernels.c:\n${stderr}`)
    const bytes = readFileSync(out)
    if (sectionsOf(bytes).some(({ id }) => id === dataSection)) {
      throw new Error(
        'kernels.c has data of its own in memory, which threads share and others write over. Build constants from immediates.',
      )
    }
    return { version, bytes: Buffer.concat([bytes, customSection(sourceSection, sourceDigest())]) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function versionOf(command: string): string | undefined {
  const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
  return /version (\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1]
}

/** What kernels.c is now. */
export function sourceDigest(): string {
  return createHash('sha256').update(readFileSync(source)).digest('hex')
}

/** What kernels.c was when the committed kernels.wasm was built. */
export function builtDigest(): string | undefined {
  const prefix = Buffer.from([sourceSection.length, ...Buffer.from(sourceSection)])
  const section = sectionsOf(readFileSync(committed)).find(
    ({ id, content }) => id === customId && prefix.equals(content.subarray(0, prefix.length)),
  )
  return section && Buffer.from(section.content.subarray(prefix.length)).toString()
}

const customId = 0
const dataSection = 11

/** Sections of a module (WebAssembly core specification 2.0, 5.5.2). */
function sectionsOf(bytes: Uint8Array): { id: number; content: Uint8Array }[] {
  const found: { id: number; content: Uint8Array }[] = []
  let at = 8
  while (at < bytes.length) {
    const id = bytes[at++]!
    let size = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      size |= (byte & 0x7f) << shift
      if ((byte & 0x80) === 0) break
    }
    found.push({ id, content: bytes.subarray(at, at + size) })
    at += size
  }
  return found
}

/** Name and content are shorter than 128 bytes together, so that each length is one byte. */
function customSection(name: string, content: string): Buffer {
  const body = Buffer.concat([Buffer.from([name.length]), Buffer.from(name + content)])
  return Buffer.concat([Buffer.from([customId, body.length]), body])
}

function main(isCheck: boolean): void {
  const { version, bytes } = buildKernels()
  if (bytes === undefined) {
    say(
      'skipped: there is no clang here. `apt-get install clang lld` on Debian 12 has the one that is wanted.',
    )
    if (isCheck) count('0 passed, 0 failed, 1 skipped')
    else process.exitCode = 1
    return
  }
  if (isCheck && version !== clangVersion) {
    say(`skipped: clang is ${version}, and the committed bytes are those of ${clangVersion}.`)
    count('0 passed, 0 failed, 1 skipped')
    return
  }
  if (!isCheck) {
    writeFileSync(committed, bytes)
    say(`${bytes.length} bytes by clang ${version} in ${relative(root, committed)}`)
    if (version !== clangVersion)
      say(`commit only what clang ${clangVersion} made: --check compares with that`)
    return
  }
  if (readFileSync(committed).equals(bytes)) {
    say(`${bytes.length} bytes, as committed`)
    count('1 passed, 0 failed, 0 skipped')
    return
  }
  say('kernels.wasm is not what kernels.c gives. Run `node scripts/build-kernels.ts` and commit both.')
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`kernels: ${line}\n`)
}

/** The last line of a section of `.ci/run`. */
function count(line: string): void {
  process.stdout.write(`${line}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--check'))
