import type OpenAI from 'openai'

export interface Tools {
  list: readonly { name: string; description: string; parameters: Record<string, unknown> }[]
  call(name: string, args: Record<string, unknown>): Promise<string>
}

/**
 * A support agent on OpenAI's Responses API. The server holds the conversation: what is kept between two messages is the
 * id of the last response.
 */
export class SupportAgent {
  private readonly client: OpenAI
  private readonly tools: Tools
  private readonly instructions: string
  private readonly stream: boolean
  private lastResponse: string | undefined

  constructor(options: { client: OpenAI; tools: Tools; instructions: string; stream: boolean }) {
    this.client = options.client
    this.tools = options.tools
    this.instructions = options.instructions
    this.stream = options.stream
  }

  async answer(text: string): Promise<string> {
    let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: text }]
    for (;;) {
      const response = await this.ask(input)
      this.lastResponse = response.id
      const calls = response.output.filter((item) => item.type === 'function_call')
      if (calls.length === 0) return response.output_text
      input = []
      for (const { call_id, name, arguments: args } of calls) {
        const output = await this.tools.call(name, JSON.parse(args) as Record<string, unknown>)
        input.push({ type: 'function_call_output', call_id, output })
      }
    }
  }

  private async ask(input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> {
    const request = {
      model: 'gpt-5-mini',
      instructions: this.instructions,
      input,
      previous_response_id: this.lastResponse ?? null,
      tools: this.tools.list.map((tool) => ({ type: 'function' as const, strict: false, ...tool })),
    }
    return this.stream
      ? await this.client.responses.stream(request).finalResponse()
      : await this.client.responses.create(request)
  }
}
