import { type LanguageModel, type ModelMessage, ToolLoopAgent, type ToolSet } from 'ai'

/** A support agent on the AI SDK, which gets its model and its tools from whoever makes it. */
export class SupportAgent {
  private readonly agent: ToolLoopAgent<never, ToolSet>
  private readonly stream: boolean
  private readonly messages: ModelMessage[] = []

  constructor(options: { model: LanguageModel; tools: ToolSet; instructions: string; stream: boolean }) {
    const { stream, ...settings } = options
    this.agent = new ToolLoopAgent(settings)
    this.stream = stream
  }

  async answer(text: string): Promise<string> {
    const { agent, messages } = this
    messages.push({ role: 'user', content: text })
    const result = this.stream ? await agent.stream({ messages }) : await agent.generate({ messages })
    messages.push(...(await result.response).messages)
    return await result.text
  }
}
