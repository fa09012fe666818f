# Verdicts of published scorers on pairs of answers: JSON lines [gold, answer] in, {peer: true | false | null} out.
# The MATH scorer (is_equiv) and the rules of GSM8K are those of the installed package lm_eval, run as they are published.
import importlib.util
import json
import logging
import re
import sys
import types
from importlib.metadata import distribution

from math_verify import parse, verify

logging.disable(logging.CRITICAL)
package = distribution("lm_eval")


def located(name):
    return str(package.locate_file(name))


# Their file asks for a library of data sets that it needs for no comparison.
datasets = types.ModuleType("datasets")
datasets.Dataset = object
sys.modules["datasets"] = datasets
spec = importlib.util.spec_from_file_location("hendrycks", located("lm_eval/tasks/hendrycks_math/utils.py"))
hendrycks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hendrycks)

text = open(located("lm_eval/tasks/gsm8k/gsm8k.yaml"), encoding="utf-8").read()
strict = re.search(r'regex_pattern: "(#### .*)"', text).group(1).encode().decode("unicode_escape")
removed = [
    pattern.encode().decode("unicode_escape")
    for pattern in re.findall(r'^ {6}- "(.*)"$', text.split("generation_kwargs")[0], re.M)
]


def gsm8k(gold, answer):
    found = re.search(strict, f"#### {answer}")
    if not re.fullmatch(r"-?[\d.,]+", gold):
        return None
    said, wanted = (found.group(1) if found else "[invalid]"), gold
    for pattern in removed:
        said, wanted = re.sub(pattern, "", said), re.sub(pattern, "", wanted)
    return said.lower() == wanted.lower()


def guarded(judge, *pair):
    try:
        return judge(*pair)
    except BaseException:
        return None


golds = {}


def math_verify(gold, answer):
    if gold not in golds:
        golds[gold] = parse(f"\\boxed{{{gold}}}", parsing_timeout=None)
    return bool(verify(golds[gold], parse(f"\\boxed{{{answer}}}", parsing_timeout=None), timeout_seconds=None))


for line in sys.stdin:
    gold, answer = json.loads(line)
    print(
        json.dumps(
            {
                "math-verify": guarded(math_verify, gold, answer),
                "MATH": guarded(hendrycks.is_equiv, gold, answer),
                "GSM8K": guarded(gsm8k, gold, answer),
            }
        )
    )
