"""Loads generated packages, calls each of their methods, and prints what is not as it was meant."""

import importlib
import inspect
import json
import sys

from transformers.utils import get_json_schema

wish = json.load(sys.stdin)
sys.path.insert(0, wish["package"])
wrong = []
for given in wish["modules"]:
    module = importlib.import_module(given["module"])
    environment = getattr(module, given["prefix"] + "Environment")
    called = []
    instance = environment()
    instance._call = lambda name, required, optional: called.append((name, {**required, **optional})) or ""
    methods = {
        name: function
        for name, function in inspect.getmembers(environment, predicate=inspect.isfunction)
        if name not in ("reset", "get_reward") and not name.startswith("_")
    }
    for name, method in methods.items():
        schema = get_json_schema(getattr(instance, name))["function"]
        values = {parameter: place for place, parameter in enumerate(schema["parameters"]["properties"])}
        getattr(instance, name)(**values)
    tools = sorted(given["tools"])
    if sorted(name for name, _ in called) != tools:
        wrong.append(f"{given['module']}: {[name for name, _ in called]!r}, not {tools!r}")
    wanted = {}
    for tool, parameters in zip(given["tools"], given["parameters"]):
        wanted.setdefault(tool, []).append(sorted(parameters))
    for name, arguments in called:
        if sorted(arguments) not in wanted[name]:
            wrong.append(f"{given['module']}.{name}: {sorted(arguments)!r}, not {wanted[name]!r}")
        if sorted(arguments.values()) != list(range(len(arguments))):
            wrong.append(f"{given['module']}.{name}: values are mixed up")
    if module.DEFAULT_URL != "http://x/" + given["text"]:
        wrong.append(f"{given['module']}: the URL is {module.DEFAULT_URL!r}")
json.dump(wrong, sys.stdout)
