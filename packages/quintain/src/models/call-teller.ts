import type { ReplyDelta } from '../core/wire.ts'
import type { CallAssembly } from './call-assembly.ts'
import { uniqueCallId } from './tool-call.ts'

/**
 * Tells the calls of an assembly as they grow. A call is told once its name is whole, which it is when its arguments
 * begin, another call begins or the reply ends; its id is the one that the whole reply will have.
 */
export function createCallTeller(
  assembly: CallAssembly,
  options: { taken?: ReadonlySet<string> | undefined; tell: (delta: ReplyDelta) => void },
): { progress(): void; end(): void } {
  const { tell } = options
  const taken = new Set(options.taken)
  /** Characters of arguments that were told, by call; a call that is not in it has not been told. */
  const told: number[] = []

  function progress(whole: boolean): void {
    const { drafts } = assembly
    for (let call = Math.max(0, told.length - 1); call < drafts.length; call++) {
      const { id, name, arguments: text } = drafts[call]!
      if (told[call] === undefined) {
        if (!whole && call === drafts.length - 1 && (text === '' || name === '')) return
        told[call] = 0
        tell({ type: 'call', call, id: uniqueCallId(id, call, taken), name })
      }
      if (text.length > told[call]!) tell({ type: 'arguments', call, text: text.slice(told[call]) })
      told[call] = text.length
    }
  }

  return { progress: () => progress(false), end: () => progress(true) }
}
