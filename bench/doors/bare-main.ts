/**
 * What an OpenEnv server costs that does nothing but answer: the frames of the counter over a WebSocket, with no environment
 * behind them. `bare-main` sends its port to whoever started it.
 */
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { callsToGo } from './kinds.ts'

const text = 'The counter is at 3.'
const result = { content: [{ type: 'text', text }], structured_content: null, meta: null, data: text }
const observation = { tool_name: 'add', result: { ...result, is_error: false }, error: null, metadata: {} }

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  let steps = 0
  socket.on('error', () => {})
  socket.on('message', (frame) => {
    const { type } = JSON.parse(String(frame)) as { type: string }
    if (type === 'close') return
    if (type === 'step') steps++
    const done = steps >= callsToGo
    const data = { observation, reward: done ? 1 : null, done, metadata: {} }
    socket.send(JSON.stringify({ type: 'observation', data }))
  })
})
server.on('listening', () => process.send?.((server.address() as AddressInfo).port))
