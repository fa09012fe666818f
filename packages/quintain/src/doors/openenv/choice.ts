import type { SessionCore, TaskChoice } from '../session/session.ts'
import { invalid } from './refusals.ts'
import type { ResetRequest } from './reset-request.ts'

export interface TaskPicker {
  readonly core: SessionCore
  /** The task of an episode for which none was asked. */
  nextTask(split: string | undefined): TaskChoice
}

/** Which task a reset asks for, and the seed that it asks for beside it. Throws a `Refusal` or a `SessionError`. */
export async function choiceOf(
  { taskId, split, index, seed }: ResetRequest,
  picker: TaskPicker,
): Promise<{ choice: TaskChoice; seed: number | string | undefined }> {
  const { core } = picker
  if (taskId !== undefined) {
    const task = await core.task({ id: taskId })
    if ((split ?? task.split) !== task.split || (index ?? task.index) !== task.index)
      throw invalid(`Task "${taskId}" is not the one of that split and index.`)
    return { choice: { id: taskId }, seed }
  }
  if (index !== undefined) {
    const choice = { split: split ?? defaultSplit(core), index }
    await core.task(choice)
    return { choice, seed }
  }
  if (seed === undefined) return { choice: picker.nextTask(split), seed: undefined }
  return { choice: { ...(split === undefined ? {} : { split }), seed: String(seed) }, seed: undefined }
}

/** That of training where there is one. */
export function defaultSplit({ splits }: SessionCore): string {
  return (splits.find(({ type }) => type === 'train') ?? splits[0])?.name ?? 'train'
}
