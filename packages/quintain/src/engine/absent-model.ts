import { type Model, ModelFault } from '../core/index.ts'

/** Stands behind an agent that brings its own model: who asks it is told what to do. */
export function absentModel(id: string): Model {
  return {
    id,
    generate() {
      return Promise.reject(
        new ModelFault({
          owner: 'platform',
          stage: 'model',
          code: 'no_model',
          message: `${id} asked for a model, and this run gives it none; say which beside the agent (model: 'NAME', or -m NAME)`,
          retryable: false,
        }),
      )
    },
  }
}
