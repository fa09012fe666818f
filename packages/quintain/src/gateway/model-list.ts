/** A model as `GET /v1/models/NAME` tells it, to SDKs of OpenAI or of Anthropic. Whatever name is asked for is there. */
export function modelEntry(id: string, anthropic: boolean): Record<string, unknown> {
  return anthropic
    ? { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
    : { id, object: 'model', created: 0, owned_by: 'quintain' }
}

/** The list of models, of which there is one: the policy that the attempt is played by. */
export function modelList(id: string, anthropic: boolean): Record<string, unknown> {
  const data = [modelEntry(id, anthropic)]
  return anthropic ? { data, has_more: false, first_id: id, last_id: id } : { object: 'list', data }
}
