import { type ManifestRecord, QuintainError } from '../../core/index.ts'

/** Id of the model that plays the scripts of a probe. */
export const probeModel = 'probe'

/** Whether a run is one of a probe. It ends with its process: which script an order was given is in no record. */
export function isProbe({ seats }: Pick<ManifestRecord, 'seats'>): boolean {
  const agent = seats['agent']
  return agent?.policy === probeModel && agent.endpoint === undefined
}

/** Errors that advise to resume a run, as they are told of a probe in `dir`; any other as it is. */
export function probeError(error: unknown, dir: string): unknown {
  const told = (why: string) =>
    new QuintainError((error as QuintainError).code, `${why} a probe is not gone on with.`, {
      cause: error,
      facts: { dir },
    })
  if (!QuintainError.isInstance(error)) return error
  if (error.code === 'run_exists') return told(`${dir} already holds a run. Begin the probe in a new folder:`)
  if (error.code === 'disk_full')
    return told(`The disk that holds ${dir} is full. Make room, and begin another probe in a new folder:`)
  return error
}
