"""OpenAI's own client for Python asks a served policy; what it made of it is printed as JSON."""

import asyncio
import json
import sys

import openai

base_url, key, model, given = sys.argv[1:]
cases = json.loads(given)
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)


def user(content):
    return {"role": "user", "content": content}


def error(**changes):
    asked = {"model": model, "messages": [user(cases["question"])], **changes}
    try:
        client.chat.completions.create(**asked)
    except openai.APIStatusError as thrown:
        return f"{type(thrown).__name__} {thrown.status_code} {thrown.code}"
    return "answered"


async def many(count):
    """Many at once, as a trainer asks."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0) as asking:

        async def one(seed):
            stream = await asking.chat.completions.create(
                model=model,
                messages=[user("Say.")],
                seed=seed,
                max_tokens=20,
                logprobs=True,
                stream=True,
                extra_body={"return_token_ids": True},
            )
            ids, logprobs = [], []
            async for chunk in stream:
                for choice in chunk.choices:
                    ids += getattr(choice, "token_ids", None) or []
                    logprobs += choice.logprobs.content if choice.logprobs else []
            return ids, len(logprobs)

        return await asyncio.gather(*(one(seed % (count // 2)) for seed in range(count)))


chat = client.chat.completions
asked = {"model": model, "temperature": 0, "messages": [user(cases["question"])]}
whole = chat.create(**asked, logprobs=True, extra_body={"return_token_ids": True})
choice = whole.choices[0]
pieces = [
    chunk.choices[0].delta.content or ""
    for chunk in chat.create(**asked, stream=True)
    if chunk.choices
]
called = chat.create(model=model, temperature=0, messages=[user(cases["request"])], tools=cases["tools"])
call = called.choices[0].message.tool_calls[0].function
replies = asyncio.run(many(64))
half = len(replies) // 2
print(
    json.dumps(
        {
            "whole": choice.message.content,
            "pieces": "".join(pieces),
            "finish": choice.finish_reason,
            "usage": [whole.usage.prompt_tokens, whole.usage.completion_tokens],
            "logprobs": len(choice.logprobs.content) == len(choice.token_ids),
            "call": [call.name, call.arguments],
            "seeded": replies[:half] == replies[half:],
            "fits": all(len(ids) == logprobs for ids, logprobs in replies),
            "models": [entry.id for entry in client.models.list()],
            "errors": {"model": error(model="gpt"), "long": error(messages=[user("x" * 600)])},
        }
    )
)
