import type { Model } from '../core/model.ts'
import { chatModelFromEnv, namesProtocol, serverKinds } from './chat-model-from-env.ts'

/** What a run's records say of the model of a seat. */
export interface RecordedModel {
  policy: string
  endpoint?: string | undefined
  server?: string | undefined
}

type FromEnv = NonNullable<Parameters<typeof chatModelFromEnv>[1]>

/**
 * The model that a run recorded, opened again: the same name, protocol, endpoints and kind of server, the key from the
 * environment variables. `options` go before what was recorded. Undefined for what is no model, and for one that was made
 * in code. Throws as `chatModelFromEnv`.
 */
export function modelAgain(
  { policy, endpoint, server: kind }: RecordedModel,
  options: FromEnv = {},
): Model | undefined {
  if (!namesProtocol(policy)) return undefined
  const server = serverKinds.find((one) => one === kind)
  return chatModelFromEnv(policy, {
    ...(endpoint === undefined ? {} : { baseUrl: endpoint.split(' ') }),
    ...(server === undefined ? {} : { server }),
    ...options,
  })
}
