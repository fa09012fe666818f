import { z } from 'zod'
import { environment, type Tool, tool, toolError, unscored } from '../../../core/index.ts'

/** What each task makes of an episode, and how its oracle plays it. */
export const kinds = [
  'plain',
  'beside',
  'batch',
  'cut',
  'ended',
  'errors',
  'bits',
  'unscored',
  'fault',
  'early',
  'clock',
] as const
export type Kind = (typeof kinds)[number]

/** An environment with everything in it that some protocol has no word for. */
export const desk = environment({
  options: z.object({ kinds: z.array(z.enum(kinds)).default([...kinds]) }),
  system: 'You sit at a desk.',
  tasks: ({ options }) =>
    options.kinds.map((kind) => ({
      id: kind,
      prompt: `Work on ${kind}.`,
      data: { kind },
      secret: { word: `secret-of-${kind}` },
      ...(kind === 'batch' || kind === 'cut' ? { limits: { turns: 2 } } : {}),
    })),
  needs: ['tools'],
  world: () => {
    const notes: string[] = []
    const note = tool({
      name: 'note',
      description: 'Writes something down.',
      input: z.object({ text: z.string(), times: z.number().int().max(3).optional() }),
      run: ({ text }) => {
        if (text === 'burn') throw new Error('the desk burns')
        if (text === 'bad') return toolError('no_ink', 'There is no ink.')
        notes.push(text)
        if (text === 'time') return `It is ${process.hrtime.bigint()}.`
        return text === 'close' ? { content: 'Closed.', done: 'closed' } : `Noted: ${text}`
      },
    })
    return { tools: (): Tool[] => [note], finish: () => ({ notes }) }
  },
  rewards: {
    worth: ({ task, state, transcript }) => {
      switch (task.data.kind) {
        case 'beside':
          return Number(JSON.stringify(transcript.messages).includes('I think it is blue'))
        case 'bits':
          return 0.1 + 0.2
        case 'unscored':
          return unscored('nothing_to_check')
        default:
          return state.notes.length / 7
      }
    },
  },
  success: ({ rewards }) => rewards.worth > 0,
  *oracle({ task }) {
    const write = (text: string) => ({ tool: 'note', arguments: { text } })
    switch (task.data.kind) {
      case 'beside':
        yield { text: 'I think it is blue.', calls: [write('a colour')] }
        return 'Done.'
      case 'batch':
      case 'cut':
        yield [write('a'), write('b'), write('c')]
        if (task.data.kind === 'cut') yield [write('d'), write('e'), write('f')]
        return 'Done.'
      case 'ended':
        yield [write('a'), write('close'), write('after')]
        return
      case 'errors':
        yield write('bad')
        yield { tool: 'nothing', arguments: {} }
        yield { tool: 'note', arguments: { text: 7 } }
        return 'Done.'
      case 'fault':
        yield write('burn')
        return
      case 'clock':
        yield write('time')
        return 'Done.'
      case 'early':
        yield write('a')
        yield write('b')
        return
      default:
        yield write('a')
        return 'Done.'
    }
  },
})
