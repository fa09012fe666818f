"""A support agent on OpenAI's Python package.

What the customer says comes in as a JSON line, what the agent answers goes out as one. Tools are called with JSON over
HTTP.
"""

import json
import os
import sys
from urllib.request import Request, urlopen

from openai import OpenAI

client = OpenAI()
tools_url = os.environ["QUINTAIN_TOOLS_URL"]
stream = os.environ.get("STREAM") == "1"


def call_tool(name: str, arguments: str) -> str:
    request = Request(f"{tools_url}/{name}", data=arguments.encode(), method="POST")
    with urlopen(request) as response:
        return response.read().decode()


def ask(messages: list, tools: list):
    request = {"model": "gpt-5-mini", "messages": messages, "tools": tools}
    if not stream:
        return client.chat.completions.create(**request).choices[0].message
    with client.chat.completions.stream(**request) as events:
        return events.get_final_completion().choices[0].message


def answer(messages: list, tools: list) -> str:
    while True:
        message = ask(messages, tools)
        calls = message.tool_calls or []
        said = {"role": "assistant", "content": message.content}
        if not calls:
            messages.append(said)
            return message.content or ""
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in calls
        ]
        messages.append(said)
        for call in calls:
            result = call_tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def main() -> None:
    with urlopen(tools_url) as response:
        tools = json.load(response)
    messages: list = []
    for line in sys.stdin:
        said = json.loads(line)
        if messages:
            messages.append({"role": "user", "content": said["input"]})
        else:
            messages.extend({"role": one["role"], "content": one["content"]} for one in said["messages"])
        print(json.dumps({"answer": answer(messages, tools)}), flush=True)


main()
