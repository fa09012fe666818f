import { connect, type Socket } from 'node:net'
import { messageOf } from '../../core/index.ts'
import type { Channel } from './channel.ts'
import { errorFrame, type Frame, RpcError, replyFrame, rpc, shown } from './frames.ts'
import { capabilityName } from './session-tools.ts'

/**
 * Makes a connection a pipe to the port of the tools, and to nothing else: the addresses there cannot be guessed, and each
 * has the tools of one session alone.
 */
export function openTunnel(
  socket: Socket,
  { id, params }: Frame,
  { channel, rest }: { channel: Channel; rest: Buffer },
): void {
  const refuse = (code: number, message: string) => {
    socket.end(id === undefined ? '' : errorFrame(id, new RpcError(code, message)))
    socket.resume()
  }
  socket.on('error', () => socket.destroy())
  const { capability } = params
  if (typeof capability !== 'string') {
    refuse(rpc.badParams, "tunnel.open: 'capability' must be a string")
    return
  }
  if (capability !== capabilityName) {
    refuse(rpc.badParams, `unknown capability: ${shown(capability)}; there is "${capabilityName}"`)
    return
  }
  socket.pause()
  const inner = connect({ host: '127.0.0.1', port: channel.tools.port, allowHalfOpen: true })
  let open = false
  inner.once('connect', () => {
    open = true
    if (id !== undefined) socket.write(replyFrame(id, { capability }))
    if (rest.length > 0) inner.write(rest)
    socket.pipe(inner)
    inner.pipe(socket)
  })
  inner.once('error', (error) => {
    if (open) socket.destroy()
    else refuse(rpc.failed, `the tools cannot be reached: ${messageOf(error)}`)
  })
  // A side that breaks off takes the other along; one that only ends lets the other end by itself.
  socket.once('close', () => inner.destroy())
  inner.once('close', () => socket.destroySoon())
}
