// A rollout server as the kit's users write one: it reads what it is asked with the kit's schema, asks its model with the
// client of OpenAI, and tells its status in the kit's form. Copied beside the peers and run there; prints its port.
import { createServer } from 'node:http'
import { initRequestSchema, Status, statusResponseSchema } from 'eval-protocol'
import OpenAI from 'openai'

const rollouts = new Map()

async function rollout({ completion_params, messages = [], tools, model_base_url, api_key, metadata }) {
  const client = new OpenAI({ baseURL: model_base_url, apiKey: api_key, maxRetries: 0 })
  const url = metadata.quintain?.tools_url
  const history = [...messages]
  for (;;) {
    const { choices } = await client.chat.completions.create({
      ...completion_params,
      messages: history,
      ...(tools ? { tools } : {}),
    })
    const [{ message }] = choices
    history.push(message)
    if (!message.tool_calls?.length) return
    for (const { id, function: call } of message.tool_calls) {
      const reply = await fetch(`${url}/${call.name}`, { method: 'POST', body: call.arguments })
      history.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(await reply.json()) })
    }
  }
}

const send = (response, code, body) => {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://server')
  if (request.method === 'POST' && url.pathname === '/init') {
    let text = ''
    for await (const chunk of request) text += chunk
    const read = initRequestSchema.safeParse(JSON.parse(text))
    if (!read.success) return send(response, 400, read.error.issues)
    const id = read.data.metadata.rollout_id
    rollouts.set(id, { terminated: false, info: { status: Status.rolloutRunning().toJSON() } })
    rollout(read.data).then(
      () => rollouts.set(id, { terminated: true, info: { status: Status.rolloutFinished().toJSON() } }),
      (error) =>
        rollouts.set(id, {
          terminated: true,
          info: { status: Status.rolloutInternalError(error.message).toJSON() },
        }),
    )
    return send(response, 200, { status: 'accepted', rollout_id: id })
  }
  const status = rollouts.get(url.searchParams.get('rollout_id'))
  if (url.pathname !== '/status' || status === undefined) return send(response, 404, { error: 'not found' })
  send(response, 200, statusResponseSchema.parse(status))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
