import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './recorded.ts'

const core = new URL('../../core/index.ts', import.meta.url).href

/** A package with an environment in it, in a folder of its own, for workers. `source` sees `environment` and `tool`. */
export async function packageOf(source: string): Promise<string> {
  const dir = await temporaryFolder()
  const manifest = { name: 'fixture', version: '1.0.0', type: 'module', exports: './index.js' }
  await writeFile(join(dir, 'package.json'), JSON.stringify(manifest))
  await writeFile(
    join(dir, 'index.js'),
    `import { environment, tool } from ${JSON.stringify(core)}\n${source}\n`,
  )
  return dir
}
