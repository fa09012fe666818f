import type { Tally } from '../tally.ts'
import { question, replies } from './cases.ts'
import type { ServedModel } from './server.ts'

/** Weights are exchanged while many replies are sampled: each is wholly of the version that it says, and none is lost. */
export async function swapChecks(
  server: ServedModel,
  { path, other, tally }: { path: string; other: string; tally: Tally },
): Promise<void> {
  const said = new Map<string, string>()
  const versions = ['second', 'third', 'fourth', 'fifth']
  let exchanging = true
  let wrong = 0
  let answered = 0
  const ask = async (stream: boolean): Promise<void> => {
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'policy',
        messages: [{ role: 'user', content: question }],
        temperature: 0,
        stream,
      }),
    })
    const { version, text } = stream ? ofStream(await response.text()) : ofBody(await response.text())
    answered++
    if (!said.has(version)) said.set(version, text)
    if (said.get(version) !== text) wrong++
  }
  const asking = Array.from({ length: 16 }, async (_, at) => {
    while (exchanging) await ask(at % 2 === 0)
  })
  const statuses: number[] = []
  for (const [at, version] of versions.entries()) {
    await new Promise((resolve) => setTimeout(resolve, 300))
    const { status } = await server.swap(at % 2 === 0 ? other : path, version)
    statuses.push(status)
  }
  await new Promise((resolve) => setTimeout(resolve, 300))
  exchanging = false
  await Promise.all(asking)
  tally.check('weights are exchanged under load', statuses, [200, 200, 200, 200])
  tally.check(
    'each reply is of the version that it says',
    { wrong, many: answered > 100 },
    { wrong: 0, many: true },
  )
  const { sun, rain } = replies
  tally.check(
    'and each version says what it was taught',
    versions.map((version) => said.get(version)),
    [rain.text, sun.text, rain.text, sun.text],
  )
  const { status } = await server.swap(other, 'fifth')
  tally.check('a version is given once', status, 409)
}

function ofBody(text: string): { version: string; text: string } {
  const body = JSON.parse(text) as { weight_version: string; choices: { message: { content: string } }[] }
  return { version: body.weight_version, text: body.choices[0]?.message.content ?? '' }
}

function ofStream(text: string): { version: string; text: string } {
  const events = text
    .trim()
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''))
  if (events.pop() !== '[DONE]') throw new Error('a stream broke off')
  const chunks = events.map(
    (event) => JSON.parse(event) as { weight_version: string; choices: { delta: { content?: string } }[] },
  )
  const versions = new Set(chunks.map((chunk) => chunk.weight_version))
  if (versions.size !== 1) throw new Error(`one reply is of ${versions.size} versions`)
  return {
    version: [...versions][0]!,
    text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
  }
}
