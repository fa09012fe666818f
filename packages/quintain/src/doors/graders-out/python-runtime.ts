/**
 * What every generated Python file begins with: templates, and the checks of hosted graders by the packages that the vendor's
 * image has. Errors are raised and never become a score, but for structured output that the agent did not give (0).
 */
export const pythonRuntime = `
import json
import math


class SampleParseError(Exception):
    """The answer is not the structured output that the grader reads: the score is 0."""


def _at(root, path):
    value = root
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.lstrip("-").isdigit() and -len(value) <= int(name) < len(value):
            value = value[int(name)]
        else:
            if path[:2] == ["sample", "output_json"]:
                raise SampleParseError("the answer has no " + ".".join(path[1:]))
            raise KeyError("{{ " + ".".join(path) + " }} is not there")
    return value


def _render(template, sample, item):
    root = {"sample": sample, "item": item}
    texts = []
    for part in template:
        value = part if isinstance(part, str) else _at(root, part)
        texts.append(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return "".join(texts)


def _string_check(operation, left, right):
    if operation == "eq":
        return float(left == right)
    if operation == "ne":
        return float(left != right)
    if operation == "like":
        return float(right in left)
    return float(right.lower() in left.lower())


def _finite(value, name):
    if isinstance(value, (str, bytes)):
        raise TypeError(name + " gave a text and no number")
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(name + " gave no finite number")
    return float(value)
`
