import { expect, test } from 'vitest'
import { modelAgain } from './model-again.ts'

const env = { OPENAI_API_KEY: 'made-up', ANTHROPIC_API_KEY: 'made-up' }
const endpoint = 'http://127.0.0.1:9/v1'

test.each(['openai-compatible:m', 'responses:m', 'anthropic:m'])(
  '%s is opened where and as it was asked',
  (policy) => {
    expect(modelAgain({ policy, endpoint }, { env })).toMatchObject({ id: policy, endpoint })
  },
)

test('replicas and what kind of server they are, too; an option goes before what was recorded', () => {
  const recorded = {
    policy: 'openai-compatible:m',
    endpoint: `${endpoint} http://other/v1`,
    server: 'sglang',
  }
  expect(modelAgain(recorded, { env })).toMatchObject({ endpoint: recorded.endpoint, server: 'sglang' })
  expect(modelAgain(recorded, { env, baseUrl: 'http://third/v1' })?.endpoint).toBe('http://third/v1')
})

test('what is no model, and one that was made in code, are not', () => {
  for (const policy of ['script:oracle', 'recorded:x', 'agent:mine', 'mine', 'openrouter:m'])
    expect(modelAgain({ policy, endpoint }, { env })).toBeUndefined()
})
