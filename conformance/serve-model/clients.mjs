// Clients that we did not write ask a served policy; what they made of it is printed as JSON. This file is copied beside
// them. `node clients.mjs BASE_URL KEY MODEL CASES`
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'

const [baseURL, apiKey, model, given] = process.argv.slice(2)
const { question, request, tools } = JSON.parse(given)
const user = (content) => ({ role: 'user', content })
const greedy = { model, temperature: 0 }

async function openai() {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
  const chat = client.chat.completions
  const asked = { ...greedy, messages: [user(question)] }
  const whole = await chat.create({ ...asked, logprobs: true, return_token_ids: true })
  const [choice] = whole.choices
  const stream = chat.stream({ ...asked, logprobs: true, stream_options: { include_usage: true } })
  const pieces = []
  stream.on('content', (piece) => pieces.push(piece))
  const streamed = await stream.finalChatCompletion()
  const next = await chat.create({
    ...greedy,
    messages: [...asked.messages, choice.message, user('And tomorrow?')],
  })
  const called = await chat.create({ ...greedy, messages: [user(request)], tools })
  const calledAsStream = await chat
    .stream({ ...greedy, messages: [user(request)], tools })
    .finalChatCompletion()
  const several = () => chat.create({ model, messages: [user('Say.')], n: 2, seed: 7, max_tokens: 12 })
  const [some, same] = [await several(), await several()]
  const completion = await client.completions.create({
    ...greedy,
    prompt: whole.prompt_token_ids,
    max_tokens: 100,
    logprobs: 0,
    return_token_ids: true,
  })
  const rising = await client.completions.create({
    ...greedy,
    prompt: whole.prompt_token_ids,
    max_tokens: 100,
    stream: true,
  })
  let risen = ''
  for await (const { choices } of rising) risen += choices[0]?.text ?? ''
  const status = (promise) =>
    promise.then(
      () => 'answered',
      (thrown) => `${thrown.constructor.name} ${thrown.status} ${thrown.code}`,
    )
  const leaving = new AbortController()
  const left = status(chat.create({ ...asked, temperature: 1 }, { signal: leaving.signal }))
  leaving.abort()
  return {
    whole: choice.message.content,
    streamed: streamed.choices[0].message.content,
    pieces: pieces.join(''),
    finish: [choice.finish_reason, streamed.choices[0].finish_reason],
    usage: whole.usage,
    streamedUsage: streamed.usage,
    logprobs: choice.logprobs.content.length === choice.token_ids.length,
    sameLogprobs:
      JSON.stringify(streamed.choices[0].logprobs.content) === JSON.stringify(choice.logprobs.content),
    version: whole.weight_version,
    next: next.choices[0].message.content,
    call: called.choices[0].message.tool_calls.map(({ function: { name, arguments: text } }) => [name, text]),
    callFinish: called.choices[0].finish_reason,
    streamedCall: calledAsStream.choices[0].message.tool_calls.map(
      ({ function: { name, arguments: text } }) => [name, text],
    ),
    seeded: JSON.stringify(some.choices) === JSON.stringify(same.choices),
    differ: some.choices[0].message.content !== some.choices[1].message.content,
    completion: completion.choices[0].text,
    completionIds: JSON.stringify(completion.choices[0].token_ids) === JSON.stringify(choice.token_ids),
    risen,
    models: (await client.models.list()).data.map(({ id }) => id),
    errors: {
      model: await status(chat.create({ ...asked, model: 'gpt' })),
      key: await status(new OpenAI({ baseURL, apiKey: 'wrong', maxRetries: 0 }).models.list()),
      long: await status(chat.create({ ...asked, messages: [user('x'.repeat(600))] })),
      field: await status(chat.create({ ...asked, frequency_penalty: 1 })),
      left: await left,
    },
  }
}

async function aiSdk(provider) {
  const offered = {
    weather: tool({
      description: tools[0].function.description,
      inputSchema: jsonSchema(tools[0].function.parameters),
    }),
  }
  const asked = { model: provider, temperature: 0, maxRetries: 0 }
  const whole = await generateText({ ...asked, prompt: question })
  const streamed = streamText({ ...asked, prompt: question })
  const pieces = []
  for await (const piece of streamed.textStream) pieces.push(piece)
  const called = await generateText({ ...asked, prompt: request, tools: offered })
  const next = await generateText({
    ...asked,
    messages: [user(question), ...whole.response.messages, user('And tomorrow?')],
  })
  return {
    whole: whole.text,
    pieces: pieces.join(''),
    finish: [whole.finishReason, await streamed.finishReason],
    usage: [whole.usage.inputTokens, whole.usage.outputTokens],
    streamedUsage: [(await streamed.usage).inputTokens, (await streamed.usage).outputTokens],
    next: next.text,
    call: called.toolCalls.map(({ toolName, input }) => [toolName, JSON.stringify(input)]),
    callFinish: called.finishReason,
  }
}

const seen = {
  openai: await openai(),
  '@ai-sdk/openai': await aiSdk(createOpenAI({ baseURL, apiKey }).chat(model)),
  '@ai-sdk/openai-compatible': await aiSdk(
    createOpenAICompatible({ name: 'quintain', baseURL, apiKey, includeUsage: true })(model),
  ),
}
process.stdout.write(JSON.stringify(seen))
