import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseJsonl, type TaskInput, taskProblems } from '../core/index.ts'
import { environmentFromRecordings } from './environment-from-recordings.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-from-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, ...calls: [string, string][]) => ({
  role: 'assistant',
  content,
  ...(calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(([name, given], i) => ({
          id: `c${i}`,
          type: 'function',
          function: { name, arguments: given },
        })),
      }),
})
const tool = (content: string, id = 'c0') => ({ role: 'tool', tool_call_id: id, content })

async function made(lines: readonly unknown[], name = 'traces.jsonl') {
  const file = join(root, name)
  await writeFile(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  const folder = join(root, 'made')
  const found = await environmentFromRecordings(file, folder)
  const read = (path: string) => readFile(join(folder, path), 'utf8')
  const tasks = parseJsonl(await read('tasks.jsonl')).records.map(({ value }) => value as TaskInput)
  const recordings = parseJsonl(await read('recordings.jsonl')).records.map(
    ({ value }) => value as Record<string, unknown>,
  )
  return { found, tasks, recordings, read }
}

test('conversations about one thing are one task; the question is its prompt and the answer its secret', async () => {
  const system = { role: 'system', content: 'Be kind.' }
  const { found, tasks, recordings, read } = await made([
    {
      messages: [
        system,
        user('Where is A-1?'),
        assistant(null, ['find', '{"id":"A-1"}']),
        tool('Oslo'),
        assistant('It is in Oslo.'),
      ],
      reward: 1,
      metadata: { note: 7 },
    },
    { messages: [system, user('where is  a-1'), assistant('No idea.'), user('Thanks.')], reward: 0 },
    {
      messages: [
        system,
        user('Cancel B-2.'),
        assistant(null, ['cancel', '{"id":"B-2","why":null}']),
        tool('done'),
        assistant('Done.'),
      ],
    },
  ])
  expect(found).toMatchObject({
    format: 'chat',
    conversations: 3,
    unread: [],
    blanks: { repeats: 1, turns: 10, source: 'traces.jsonl' },
  })
  expect(tasks).toHaveLength(2)
  expect(tasks[0]).toMatchObject({
    id: expect.stringMatching(/^case-[0-9a-f]{8}$/),
    prompt: 'Where is A-1?',
    tags: ['tool:find', 'recorded:1-of-2'],
    secret: {
      recorded: [
        { repeat: 0, reward: 1, answer: 'It is in Oslo.' },
        { repeat: 1, reward: 0, answer: 'No idea.' },
      ],
    },
  })
  for (const [i, task] of tasks.entries()) expect(taskProblems(task, i)).toEqual([])
  // Nothing that is public tells how it went.
  expect(JSON.stringify(tasks.map(({ secret: _, ...open }) => open))).not.toMatch(/Oslo|No idea|done/i)
  expect(await read('system.md')).toBe('Be kind.\n')
  const tools = JSON.parse(await read('tools.json')) as unknown[]
  expect(tools).toEqual([
    expect.objectContaining({
      name: 'cancel',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string' }, why: { type: 'null' } },
        required: ['id', 'why'],
      },
    }),
    expect.objectContaining({ name: 'find' }),
  ])
  // A recorded policy reads these lines: task, repeat, and the agent's own messages.
  expect(recordings.map(({ task, repeat }) => [task, repeat])).toEqual([
    [tasks[0]!.id, 0],
    [tasks[0]!.id, 1],
    [tasks[1]!.id, 0],
  ])
  expect(recordings[0]).toMatchObject({
    rest: { metadata: { note: 7 } },
    messages: [{ role: 'assistant' }, { role: 'tool', name: 'find' }, { content: 'It is in Oslo.' }],
  })
  const decisions = await read('src/decisions.ts')
  expect(decisions).toContain('new Set<string>(["cancel"])')
  for (const { id } of tasks) expect(decisions).toContain(`"${id}": null,`)
  const todo = await read('TODO.md')
  for (const { id } of tasks) {
    expect(todo).toContain(`- [ ] [\`${id}\`](todo/${id}.md)`)
    expect((await read(`todo/${id}.md`)).match(/Which facts must be told\?/g)).toHaveLength(1)
  }
  expect(await read(`todo/${tasks[1]!.id}.md`)).toContain('called\n  - `cancel({"id":"B-2","why":null})`')
})

test('free text is not compared, and handing over changes nothing', async () => {
  const sentence = (i: number) =>
    `The customer of order ${i} asks for ${['a refund', 'a person', 'help'][i % 3]} at once.`
  const hand = 'transfer_to_human_agents'
  const { found, read } = await made(
    [0, 1, 2, 3].map((i) => ({
      task_id: i,
      messages: [
        user(`Please ${i}`),
        assistant(
          null,
          [
            ['ship_to', JSON.stringify({ address: `${i} Long Quay Street, Apartment ${i}, Old Town, Oslo` })],
            [
              'open_case',
              JSON.stringify({ reason: 'no longer needed by the one who ordered it', note: sentence(i) }),
            ],
            [hand, JSON.stringify({ summary: sentence(i) })],
            ['transfer_money', '{"cents":1}'],
            ['escalateCase', '{}'],
          ][i % 5] as [string, string],
        ),
        assistant(null, [hand, JSON.stringify({ summary: sentence(i + 1) })]),
      ],
    })),
  )
  const of = (name: string) => found.tools.find((one) => one.name === name)
  expect(of(hand)).toMatchObject({ changes: false, handsOver: true, freeText: ['summary'] })
  expect(of('transfer_money')).toMatchObject({ changes: true, handsOver: false })
  expect(of('ship_to')).toMatchObject({ changes: true, freeText: [] })
  const decisions = await read('src/decisions.ts')
  expect(decisions).toMatch(/changing: [^\n]*"ship_to"/)
  expect(decisions).not.toMatch(/changing: [^\n]*transfer_to/)
  expect(decisions).toContain(`{ ${hand}: ["summary"]`)
})

test("the file's own answers are proposals that read well, whatever their tasks are called", async () => {
  const calls = (...list: [string, object][]) => list.map(([name, kwargs]) => ({ name, kwargs }))
  const change = {
    order: 'A-1',
    lines: Array.from({ length: 9 }, (_, i) => ({ sku: `K-${i}`, ['__proto__']: i })),
  }
  const line = (task_id: string, actions: unknown, outputs: unknown[] = []) => ({
    task_id,
    secret: { actions, outputs },
    messages: [user(`Do ${task_id}`), assistant(null, ['change_order', '{}'])],
  })
  let deep: object = {}
  for (let i = 0; i < 200; i++) deep = { deep }
  const { found, read } = await made([
    line('a', calls(['find', { x: 1 }], ['change_order', JSON.parse(JSON.stringify(change))]), [41.5]),
    line('__proto__', calls(['change_order', { order: 'A-2' }])),
    line('constructor', calls(['find', {}])),
    line('deep', calls(['change_order', deep])),
  ])
  const { stripTypeScriptTypes } = await import('node:module')
  const load = async (text: string) =>
    (await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(text))}`
    )) as Record<string, Record<string, unknown>>
  const { proposals } = await load(await read('src/proposals.ts'))
  expect(Object.keys(proposals!)).toEqual(['a', '__proto__', 'constructor'])
  expect(proposals!['a']).toEqual({ told: ['41.5'], changed: [{ tool: 'change_order', arguments: change }] })
  const { decisions } = await load((await read('src/decisions.ts')).replace(/^import .*$/m, ''))
  expect(Object.entries(decisions!)).toEqual(found.tasks.map(({ id }) => [id, null]))
  expect(Object.getPrototypeOf(decisions)).toBe(Object.prototype)
  for (const file of ['src/proposals.ts', 'src/decisions.ts', 'TODO.md'])
    for (const text of (await read(file)).split('\n')) expect(text.length, text).toBeLessThan(200)
  expect(found.remarks.join('\n')).toContain('own answer ("constructor") asks for no change and no fact')
})

test('what cannot be read is told line by line, and nothing else is lost', async () => {
  const { found, tasks, read } = await made([
    '\ufeff{"messages": [{"role":"user","content":"One?"},{"role":"assistant","content":"1"}]}\r',
    '{"messages": [{"role":"user"',
    '',
    { messages: [{ role: 'assistant', content: 'nobody asked' }] },
    { messages: [] },
    { messages: [{ role: 'user', content: 'x' }, { role: 'king' }] },
    { other: 1 },
    [user('Two?')],
    [user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]), assistant('A cat.')],
    `{"messages":[{"role":"user","content":"Deep?"}],"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
    { messages: [user('Deep?'), assistant('', ['dig', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`])] },
    { messages: [user('Three?'), tool('stray'), assistant('3', ['odd.name/x', '{broken'])] },
    `{"messages": [{"role":"user","content":"${'y'.repeat(10 * 1024 * 1024)}"}]}`,
    '{"torn": ',
  ])
  expect(found.unread.map(({ place }) => place)).toEqual([
    'line 2',
    'line 4',
    'line 5',
    'line 6',
    'line 7',
    'line 10',
    'line 14',
  ])
  expect(found.unread.map(({ problem }) => problem).join('\n')).toMatch(
    /not JSON[\s\S]*no user message[\s\S]*no messages[\s\S]*role "king"[\s\S]*neither a list[\s\S]*500 levels deep[\s\S]*cut off/,
  )
  expect(found.conversations).toBe(6)
  expect(tasks).toHaveLength(6)
  expect(tasks[2]?.prompt).toEqual([
    { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }] },
  ])
  for (const [i, task] of tasks.entries()) expect(taskProblems(task, i)).toEqual([])
  const [deep, renamed] = JSON.parse(await read('tools.json')) as { name: string }[]
  expect(deep?.name).toBe('dig')
  expect(renamed?.name).toMatch(/^odd_name_x_[0-9a-f]{8}$/)
  const todo = await read('TODO.md')
  expect(todo).toContain('## What could not be read')
  expect(await read(`todo/${tasks[4]!.id}.md`)).toContain('answers no call')
  expect(todo).toContain('1 with unreadable arguments')
  expect(todo.length).toBeLessThan(20_000)
})

test('a task that was renamed between runs is noticed; tools that differ are too', async () => {
  const spec = (description: string) => [
    { type: 'function', function: { name: 'find', description, parameters: { type: 'object' } } },
  ]
  const { found } = await made([
    { task_id: 'old', messages: [user('Where?'), assistant('Here.')], tools: spec('Finds.') },
    { task_id: 'new', messages: [user('Where?'), assistant('There.')], tools: spec('Finds things.') },
    { task_id: 'new', messages: [user('Where is it then?'), assistant('There.')] },
  ])
  expect(found.tasks.map(({ id, recordings, wordings }) => [id, recordings.length, wordings.size])).toEqual([
    ['old', 1, 1],
    ['new', 2, 2],
  ])
  expect(found.remarks.join('\n')).toMatch(
    /"old", "new" ask the same thing[\s\S]*tool "find" in different ways/,
  )
  expect(found.tools[0]).toMatchObject({ described: true, description: 'Finds.' })
})

test('system messages that differ stay with their tasks; a greeting belongs to the question', async () => {
  const { tasks, recordings, read } = await made([
    [{ role: 'system', content: 'A' }, assistant('Hello!'), user('One?'), assistant('1')],
    [{ role: 'system', content: 'B' }, user('Two?'), assistant('2')],
  ])
  expect(await read('system.md')).toBe('')
  expect(tasks[0]?.prompt).toEqual([
    { role: 'system', content: 'A' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'One?' },
  ])
  expect(recordings[0]?.['messages']).toEqual([{ role: 'assistant', content: '1' }])
})

test('texts of people end no comment, no string and no heading', async () => {
  const nasty = 'a */ `b` \u2028 // c\n"d" <img src=x> $e \\'
  const { read, tasks } = await made([
    { task_id: nasty, messages: [user(nasty), assistant(nasty, ['do_it', JSON.stringify({ x: nasty })])] },
  ])
  expect(tasks[0]?.id).toBe(nasty)
  const { stripTypeScriptTypes } = await import('node:module')
  const code = stripTypeScriptTypes(await read('src/decisions.ts'))
  const url = `data:text/javascript,${encodeURIComponent(code)}`
  const { decisions } = (await import(/* @vite-ignore */ url)) as { decisions: Record<string, unknown> }
  expect(decisions).toEqual({ [nasty]: null })
  const page = 'todo/b-c-d-img-src-x-e.md'
  expect(await read('TODO.md')).toContain(`](${page})`)
  for (const todo of [await read('TODO.md'), await read(page)]) {
    // In a code span it is inert.
    expect(todo.replace(/`[^`\n]*`/g, '')).not.toContain('<img')
  }
  expect((await read(page)).split('\n').filter((text) => text.startsWith('#'))).toHaveLength(1)
})

test('a file without a task makes nothing', async () => {
  await expect(made([{ messages: [{ role: 'assistant', content: 'x' }] }])).rejects.toMatchObject({
    code: 'import_invalid',
    message: expect.stringContaining('line 1: nobody asks anything'),
  })
})
