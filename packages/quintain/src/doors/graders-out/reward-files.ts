import type { Grader } from '../../scoring/index.ts'
import { type PythonSource, pythonSource } from './python-source.ts'

/**
 * A reward file of RunRL (docs @0c683c1): `reward_fn(completion, **fields)` gives a reward, and with several graders their
 * scores. The fields are those of the prompt file. Throws `export_refused`.
 */
export function toRunRl(grader: Grader): PythonSource {
  const { code, requirements } = pythonSource(grader, {
    target: 'runrl',
    sampleFields: ['output_text', 'output_json'],
  })
  return { code: `${head(grader, 'RunRL reward file', requirements)}${code}${runrl}`, requirements }
}

/**
 * A Lambda handler of Bedrock's and SageMaker's reinforcement fine-tuning: a list of rows with the answer as their last
 * message comes in, a list of `{ id, aggregate_reward_score, metrics_list }` goes out. Throws `export_refused`.
 */
export function toBedrock(grader: Grader): PythonSource {
  const { code, requirements } = pythonSource(grader, {
    target: 'bedrock',
    sampleFields: ['output_text', 'output_json', 'output_tools'],
  })
  return {
    code: `${head(grader, 'Lambda handler for Amazon Bedrock', requirements)}${code}${bedrock}`,
    requirements,
  }
}

function head(grader: Grader, what: string, requirements: readonly string[]): string {
  const needs = requirements.length === 0 ? 'nothing but Python 3.9' : requirements.join(', ')
  const name = grader.name.replace(/[^\x20-\x7e]|"/g, '?')
  return `# ${what}, written by Quintain from the grader "${name}". Needs ${needs}.\n# An error is raised and never becomes a score.\n`
}

const sample = `

def _sample(text, tools=None):
    sample = {"output_text": text}
    try:
        sample["output_json"] = json.loads(text)
    except (ValueError, RecursionError):
        pass
    if tools is not None:
        sample["output_tools"] = tools
    return sample


def _score(sample, item):
    try:
        return _grade(sample, item)
    except SampleParseError:
        return 0.0, {}
`

const runrl = `${sample}

def reward_fn(completion, **fields):
    score, parts = _score(_sample(completion), fields)
    return (score, parts) if parts else score
`

const bedrock = `${sample}

def _answer(row):
    messages = row.get("messages") or []
    if not messages or messages[-1].get("role") != "assistant":
        raise ValueError("row " + str(row.get("id")) + " does not end with the answer of the model")
    last = messages[-1]
    content = last.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    return _sample(content, last.get("tool_calls") or [])


def _fields(row):
    item = {name: value for name, value in row.items() if name not in ("id", "messages", "tools", "metadata")}
    item.update(row.get("metadata") or {})
    return item


def lambda_handler(event, context):
    results = []
    for row in event if isinstance(event, list) else [event]:
        score, parts = _score(_answer(row), _fields(row))
        metrics = [{"name": name, "value": value, "type": "Metric"} for name, value in parts.items()]
        results.append({"id": row.get("id"), "aggregate_reward_score": score, "metrics_list": metrics})
    return results
`
