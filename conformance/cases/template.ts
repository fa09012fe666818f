import { QuintainError } from '../../packages/quintain/src/core/index.ts'
import {
  loadPrompts,
  promptData,
  renderJsonPrompt,
  renderPrompt,
} from '../../packages/quintain/src/models/prompt-template.ts'

type Input = Record<string, unknown>

/** What a prompt comes to, or its error with the name that it is about. */
function rendered(
  render: (template: string, variables: Input) => unknown,
  { template, vars }: Input,
  field: string,
) {
  try {
    return { [field]: render(String(template), (vars ?? {}) as Input) }
  } catch (error) {
    if (!QuintainError.isInstance(error)) throw error
    return { error: error.code, message: error.message, name: error.facts['name'] }
  }
}

/** A model's output in a prompt for a judge: data between tags that it cannot end. */
function judgePrompt({ output, answer }: Input) {
  if (answer === undefined) return { prompt: renderPrompt('{{output}}', { output }) }
  const text = renderPrompt('{{answer}}', { answer })
  const prompt = promptData('answer', text)
  const tag = /^<([^>]+)>/.exec(prompt)?.[1] ?? ''
  const inside = prompt.slice(prompt.indexOf('\n') + 1, prompt.lastIndexOf('\n'))
  return { prompt, structural_delimiters_in_answer: inside.split(tag).length - 1 }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'judge.prompt': judgePrompt,
  'prompt.load': ({ file }) => ({ prompts: loadPrompts(String(file)).length }),
  'prompt.render': (input) => rendered(renderPrompt, input, 'text'),
  'prompt.render.json': (input) => rendered(renderJsonPrompt, input, 'messages'),
}
