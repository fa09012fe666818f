import { textOf } from '../../../core/index.ts'
import type { Session, SessionCore, Settled, Step } from '../../session/session.ts'
import { SessionError } from '../../session/session-error.ts'
import {
  ClientRefused,
  type ClientStep,
  type ClientVerdict,
  type EpisodeClient,
  type Player,
} from '../episode-client.ts'

/** Plays on sessions themselves: what is lost here is lost behind every door. */
export function sessionPlayer(core: SessionCore): Player {
  return {
    way: 'session',
    anyArguments: true,
    unsaid: [],
    open: async ({ id }) => {
      const session = await core.create({ task: { id } })
      return openSession(session)
    },
    close: async () => {},
  }
}

async function openSession(session: Session): Promise<EpisodeClient> {
  const { messages, tools } = await told(session.opened())
  return {
    opening: {
      text: messages.map(({ content }) => textOf(content)).join('\n'),
      tools: tools.map(({ name }) => name),
    },
    call: async (name, args, reply) => stepOf(await told(session.call({ name, arguments: args, ...reply }))),
    say: async (text) => stepOf(await told(session.act({ content: text }))),
    end: async () => verdictOf(await told(session.grade())),
    close: () => session.close(),
  }
}

async function told<T>(running: Promise<T>): Promise<T> {
  try {
    return await running
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown
    const failed = thrown.code === 'infrastructure' ? 'failed' : undefined
    throw new ClientRefused(`${thrown.code}: ${thrown.message}`, failed)
  }
}

function stepOf({ content, error, done }: Step): ClientStep {
  return { text: textOf(content), ...(error === undefined ? {} : { error }), done: done !== undefined }
}

/** What a session says of its end, as clients are told. */
export function verdictOf(settled: Settled): ClientVerdict {
  return settled.kind === 'scored'
    ? { kind: 'scored', reward: settled.reward, success: settled.success }
    : { kind: settled.kind }
}
