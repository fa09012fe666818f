import type { Grader, GraderMessage, GraderPart } from '../../scoring/index.ts'

/**
 * A grader in the vendor's own JSON (openai-node 7.59.0, `resources/graders/grader-models.d.ts`): the map form of `multi`, and
 * the names of fields that its types have.
 */
export function toOpenAiGrader(grader: Grader): Record<string, unknown> {
  const head = { type: grader.type, name: grader.name }
  const tail = grader.passThreshold === undefined ? {} : { pass_threshold: grader.passThreshold }
  switch (grader.type) {
    case 'string_check': {
      const { input, reference, operation } = grader
      return { ...head, input, reference, operation, ...tail }
    }
    case 'text_similarity': {
      const { input, reference, metric } = grader
      return { ...head, input, reference, evaluation_metric: metric, ...tail }
    }
    case 'score_model':
      return { ...head, ...asked(grader), range: [...grader.range], ...tail }
    case 'label_model':
      return {
        ...head,
        ...asked(grader),
        labels: [...grader.labels],
        passing_labels: [...grader.passingLabels],
        ...tail,
      }
    case 'python':
      return {
        ...head,
        source: grader.source,
        ...(grader.imageTag === undefined ? {} : { image_tag: grader.imageTag }),
        ...tail,
      }
    case 'multi': {
      const graders = Object.entries(grader.graders).map(([name, part]) => [name, toOpenAiGrader(part)])
      return {
        ...head,
        graders: Object.fromEntries(graders),
        calculate_output: grader.calculateOutput,
        ...tail,
      }
    }
  }
}

type ModelGrader = Extract<Grader, { type: 'score_model' | 'label_model' }>

function asked({ model, input, sampling }: ModelGrader): Record<string, unknown> {
  const settings = {
    max_completions_tokens: sampling.maxTokens,
    reasoning_effort: sampling.reasoningEffort,
    seed: sampling.seed,
    temperature: sampling.temperature,
    top_p: sampling.topP,
  }
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return {
    model,
    input: input.map(messageOf),
    ...(given.length === 0 ? {} : { sampling_params: Object.fromEntries(given) }),
  }
}

function messageOf({ role, content }: GraderMessage): Record<string, unknown> {
  const [only, ...rest] = content
  if (rest.length === 0 && only?.type === 'text') return { role, content: only.text }
  return { role, content: content.map((part) => partOf(part, role)) }
}

function partOf(part: GraderPart, role: GraderMessage['role']): Record<string, unknown> {
  switch (part.type) {
    case 'text':
      return { type: role === 'assistant' ? 'output_text' : 'input_text', text: part.text }
    case 'image':
      return {
        type: 'input_image',
        image_url: part.url,
        ...(part.detail === undefined ? {} : { detail: part.detail }),
      }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } }
  }
}
