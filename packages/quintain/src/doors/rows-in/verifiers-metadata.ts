import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObject } from '../../core/chat-messages.ts'
import { withoutNaN } from './python-json.ts'

/** What `metadata.json` beside the results of verifiers v0 says of all of them. */
export interface ResultsMetadata {
  environment?: string
  model?: string
  sampling?: Record<string, unknown>
  /** A reward from here on is a success. */
  passThreshold?: number
}

const mostBytes = 4 * 1024 * 1024

/** The metadata beside a file of results; nothing where there is none, or none that can be read. */
export async function resultsMetadata(path: string): Promise<ResultsMetadata> {
  const value = await smallJson(join(dirname(path), 'metadata.json'))
  if (!isObject(value)) return {}
  const { env_id: environment, model, sampling_args: sampling, pass_threshold: passThreshold } = value
  return {
    ...(typeof environment === 'string' && environment !== '' ? { environment } : {}),
    ...(typeof model === 'string' && model !== '' ? { model } : {}),
    ...(isObject(sampling) && Object.keys(sampling).length > 0 ? { sampling } : {}),
    ...(typeof passThreshold === 'number' ? { passThreshold } : {}),
  }
}

async function smallJson(path: string): Promise<unknown> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    return size > mostBytes ? undefined : (JSON.parse(withoutNaN(await file.readFile('utf8'))) as unknown)
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
