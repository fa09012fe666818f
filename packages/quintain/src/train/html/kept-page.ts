import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { z } from 'zod'

/** In the folder of a training: where its page is, so that whoever goes on with it keeps the page up. */
const keptFile = 'page.json'

const record = z.object({ schema: z.literal('quintain.training-page'), v: z.literal(1), file: z.string() })

/** Writes down where the page of a training is. */
export async function keepPage(dir: string, page: string): Promise<void> {
  const kept: z.infer<typeof record> = {
    schema: 'quintain.training-page',
    v: 1,
    // No folder of this machine in a record: the two move together, or the page is no longer found.
    file: relative(dir, page).replaceAll('\\', '/'),
  }
  await writeFile(join(dir, keptFile), `${JSON.stringify(kept)}\n`)
}

/**
 * The page of a training; undefined where it has none, or none that can be told. Outside of the training's own folder it is
 * one that is there already: a folder that came from somebody else must not say where files are made.
 */
export async function keptPage(dir: string): Promise<string | undefined> {
  try {
    const page = resolve(dir, record.parse(JSON.parse(await readFile(join(dir, keptFile), 'utf8'))).file)
    if (dirname(page) !== resolve(dir)) await stat(page)
    return page
  } catch {
    return undefined
  }
}
