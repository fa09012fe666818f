import type { Recordings } from './engine/index.ts'
export async function readRecordings(path: string): Promise<Recordings> {
  throw new Error(`not yet: ${path}`)
}
