// How Quintain plays the agent: as a program, one for each conversation, which is told and answers a line of JSON a turn.
// It finds its model in OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and the world's tools in QUINTAIN_MCP_URL or QUINTAIN_TOOLS_URL.
import { fileURLToPath } from 'node:url'
import { command } from 'quintain/harness'

export default command({
  argv: ['node', fileURLToPath(new URL('chat.ts', import.meta.url))],
  turns: 'lines',
  env: { STREAM: process.env.STREAM ?? '' },
  name: '__EXAMPLE__',
})
