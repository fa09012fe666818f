import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { Recorder } from '../../packages/quintain/src/core/recorder.ts'
import type { Gateway } from '../../packages/quintain/src/gateway/index.ts'
import { SeatModel } from '../../packages/quintain/src/gateway/index.ts'
import { openGateway } from '../../packages/quintain/src/gateway/open-gateway.ts'
import { folderOf } from './install.ts'
import { type SdkCase, type Seen, sdkCases } from './sdk-cases.ts'

/** The part of `sdks/ask.mts` that is used; it is installed, and type-checked, beside the SDKs. */
interface Asker {
  sdks: readonly string[]
  ask(sdk: string, address: object, stream: boolean): Promise<Seen>
}

/** How official SDKs read the gateway's replies and errors, whole and streamed. */
export async function sdkChecks(): Promise<{ name: string; carryOut(): Promise<string[]> }[]> {
  const asker = (await import(pathToFileURL(join(folderOf('sdks'), 'ask.mts')).href)) as Asker
  return asker.sdks.map((sdk) => ({
    name: `SDK ${sdk}`,
    async carryOut() {
      const gateway = await openGateway()
      try {
        const complaints: string[] = []
        for (const one of sdkCases.filter(({ without }) => without?.test(sdk) !== true))
          for (const stream of one.streamOnly ? [true] : [false, true])
            for (const complaint of await carryOut(one, { gateway, asker, sdk, stream }))
              complaints.push(`${one.name}${stream ? ', streamed' : ''}: ${complaint}`)
        return complaints
      } finally {
        await gateway.close()
      }
    },
  }))
}

/** One case with one SDK, which makes one request and no more: the gateway has done the retrying. */
async function carryOut(
  { answer, limits = {}, seen: wanted }: SdkCase,
  { gateway, asker, sdk, stream }: { gateway: Gateway; asker: Asker; sdk: string; stream: boolean },
): Promise<string[]> {
  const over = new AbortController()
  const recorder = new Recorder()
  const seat = new SeatModel({
    seat: 'agent',
    model: { id: 'test', generate: (_request, context) => answer(context) },
    recorder,
    limits,
    sampling: {},
    redact: (text) => text,
    clock: undefined,
    signal: over.signal,
    startedAt: performance.now(),
    context: { attempt: 'attempt', task: 'task', repeat: 0 },
  })
  const { baseURL, anthropicBaseURL, apiKey } = gateway.open({ seat, signal: over.signal })
  let requests = 0
  const counting: typeof fetch = (input, init) => {
    requests += 1
    return fetch(input, init)
  }
  const seen = await asker.ask(sdk, { baseURL, anthropicBaseURL, apiKey, fetch: counting }, stream)
  over.abort()

  const complaints: string[] = []
  const expected = wanted(sdk)
  const shown = Object.fromEntries(Object.keys(expected).map((key) => [key, seen[key]]))
  if (!isDeepStrictEqual(shown, expected))
    complaints.push(`it saw ${JSON.stringify(seen)}, and was to see ${JSON.stringify(expected)}`)
  if ('text' in seen !== 'text' in expected)
    complaints.push(`it took ${JSON.stringify(seen)} for what it is not`)
  if (requests !== 1) complaints.push(`it asked ${requests} times`)
  const { usage } = recorder.calls.at(-1) ?? {}
  if ('text' in expected && usage?.output !== 5)
    complaints.push(`the usage ${JSON.stringify(usage)} is recorded`)
  return complaints
}
