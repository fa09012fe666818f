import { countText, printableLine } from '../report/index.ts'
import type { ModelServer, OpenPolicy } from '../train/index.ts'

/** What is served, and where; as it is shown. Nothing in it is secret. */
export interface ServedModelFacts {
  name: string
  /** Clients must show one. */
  token: boolean
  server: Pick<ModelServer, 'url' | 'controlUrl'>
  policy: Pick<OpenPolicy, 'folder' | 'digest' | 'version'> & {
    learner: Pick<OpenPolicy['learner'], 'model' | 'capabilities'>
  }
}

/** As a program reads it: one line. */
export function modelReadyLine({ name, token, server, policy }: ServedModelFacts): string {
  const { folder, digest, version, learner } = policy
  const ready = {
    event: 'ready',
    pid: process.pid,
    model: name,
    url: server.url,
    control_url: server.controlUrl ?? null,
    token,
    checkpoint: folder,
    digest,
    weight_version: String(version),
    shape: learner.model,
    context: learner.capabilities.context,
  }
  return `${JSON.stringify(ready)}\n`
}

/** The same for people, with what to type next. `folder`: as they would type it. */
export function modelBanner({ name, token, server, policy }: ServedModelFacts, folder: string): string {
  const { digest, version, learner } = policy
  const { parameters } = learner.model
  const lines = [
    `${name}  (${digest.slice(0, 12)})`,
    `  checkpoint  ${folder}, version ${version}`,
    `  policy      ${countText(parameters)} parameters, a context of ${countText(learner.capabilities.context)} tokens`,
    '',
    `OpenAI's chat completions and completions  ${server.url}`,
    token
      ? '  Clients show the token: Authorization: Bearer TOKEN.'
      : '  No token is set: only this machine reaches it.',
    ...(server.controlUrl === undefined
      ? []
      : [
          `Weights are exchanged at ${server.controlUrl}/v1/weights, with the control token. No agent is given it.`,
        ]),
    '',
    `Measure it: npx quintain eval ENV -m ${name} --base-url ${server.url} --server vllm`,
  ]
  return `${lines.map((line) => printableLine(line, 400)).join('\n')}\n`
}
