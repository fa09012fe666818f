/** Python graders as people write them, each with the packages of the hosted image that it is about. */
export const sources: Readonly<Record<string, string>> = {
  plain: `import json
def grade(sample, item):
    try:
        said = json.loads(sample["output_text"])
    except ValueError:
        return 0.0
    return 1.0 if said.get("answer") == item["answer"] else 0.1
`,
  rapidfuzz: `from rapidfuzz import fuzz, utils
def grade(sample, item):
    return fuzz.WRatio(sample["output_text"], item["reference"], processor=utils.default_process) / 100.0
`,
  sympy: `from sympy import simplify
from sympy.parsing.sympy_parser import parse_expr
def grade(sample, item):
    try:
        return int(simplify(parse_expr(sample["output_text"]) - parse_expr(item["formula"])) == 0)
    except Exception:
        return 0
`,
  numpy: `import numpy as np
def grade(sample, item):
    a = np.array([float(len(w)) for w in sample["output_text"].split()] or [0.0])
    return np.float32(np.exp(-abs(a.mean() - item["mean"])))
`,
  nltk: `from nltk.translate.bleu_score import sentence_bleu, SmoothingFunction
def grade(sample, item):
    return sentence_bleu([item["reference"].split()], sample["output_text"].split(),
                         smoothing_function=SmoothingFunction().method1)
`,
  rouge_score: `from rouge_score import rouge_scorer
scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)
def grade(sample, item):
    return scorer.score(item["reference"], sample["output_text"])["rougeL"].fmeasure
`,
  jsonschema: `import json, jsonschema
def grade(sample, item):
    try:
        jsonschema.validate(json.loads(sample["output_text"]), {"type": "object", "required": ["answer"]})
        return True
    except (ValueError, jsonschema.ValidationError):
        return False
`,
  pydantic: `from pydantic import BaseModel, ValidationError
class Said(BaseModel):
    answer: int
def grade(sample, item):
    try:
        return float(Said.model_validate_json(sample["output_text"]).answer == item["answer"])
    except ValidationError:
        return 0.0
`,
  sklearn: `from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity
def grade(sample, item):
    rows = TfidfVectorizer(token_pattern=r"\\S+").fit_transform([sample["output_text"], item["reference"]])
    return cosine_similarity(rows[0], rows[1])[0][0]
`,
  others: `import pandas as pd, yaml, sqlparse
from deepdiff import DeepDiff
def grade(sample, item):
    frame = pd.DataFrame({"a": [len(sample["output_text"]), 2]})
    return frame["a"].mean() + len(sqlparse.split("select 1; select 2")) + len(DeepDiff(yaml.safe_load("a: 1"), {"a": 2}))
`,
}

export const outputs: readonly string[] = [
  '{"answer": 42}',
  '{"answer": "42"}',
  'the quick brown fox jumps over the lazy dog',
  '2*(x + 1)',
  'Zürich \u{1f600} 東京',
]

export const item = {
  answer: 42,
  reference: 'the quick brown cat jumps over a lazy dog',
  formula: '2*x + 2',
  mean: 3.5,
}
