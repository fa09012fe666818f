import type { HttpAnswer, HttpCall } from '../../core/http-port.ts'
import { type ErrorCode, QuintainError } from '../../core/index.ts'
import { fieldsOf, optionalText, requiredText, wrong } from '../../models/dialects/body-fields.ts'
import { ModelProblem } from './problem.ts'
import { checkVersion, type ServedWeights, type Weights } from './served-weights.ts'

/** What a swap may be refused for; anything else is a defect, or a disk. */
const statuses: Partial<Record<ErrorCode, number>> = {
  checkpoint_invalid: 400,
  options_invalid: 400,
  version_mismatch: 409,
  // Too many replies hold to weights of before.
  samplers_exhausted: 503,
}

/** Loads the weights of a checkpoint; named as they are to be called, or by the steps of their training. */
export type LoadWeights = (path: string, version: string | undefined) => Promise<Weights>

/**
 * The address of whoever runs the server: `GET /v1/weights` says which are served, `POST /v1/weights {path, version?}` serves
 * others. Swaps are made one after the other.
 */
export class Control {
  private readonly weights: ServedWeights
  private readonly load: LoadWeights
  private last: Promise<unknown> = Promise.resolve()

  constructor(weights: ServedWeights, load: LoadWeights) {
    this.weights = weights
    this.load = load
  }

  async answer(call: HttpCall): Promise<HttpAnswer> {
    if (call.path !== '/v1/weights') throw new ModelProblem(404, 'not_found', 'Here is /v1/weights.')
    if (call.method === 'GET') return { json: this.state() }
    if (call.method !== 'POST')
      throw new ModelProblem(405, 'method_not_allowed', 'This path takes GET and POST.', {
        headers: { allow: 'GET, POST' },
      })
    const body = fieldsOf(await call.json(), 'body')
    const path = requiredText(body, 'path')
    if (path === '') throw wrong('path', 'the folder of a checkpoint')
    const version = optionalText(body, 'version')
    await this.inTurn(() => this.swap(path, version))
    return { json: this.state() }
  }

  private async swap(path: string, version: string | undefined): Promise<void> {
    try {
      if (version !== undefined) checkVersion(version)
      const loaded = await this.load(path, version)
      try {
        this.weights.swap(loaded)
      } catch (thrown) {
        await loaded.sampler.close()
        throw thrown
      }
    } catch (thrown) {
      if (!QuintainError.isInstance(thrown)) throw thrown
      throw new ModelProblem(statuses[thrown.code] ?? 500, thrown.code, thrown.message)
    }
  }

  private state(): Record<string, unknown> {
    const { version, from, inFlight, context, vocabulary } = this.weights
    return { version, ...from, context, vocabulary, in_flight: inFlight }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work)
    this.last = turn
    return turn
  }
}
