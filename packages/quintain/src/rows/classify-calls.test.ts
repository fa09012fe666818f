import { describe, expect, test } from 'vitest'
import { says, system, Talk, user } from './__fixtures__/talk.ts'
import { classifyCalls } from './classify-calls.ts'

const go = user('go')

test('calls of a conversation that only grows are kept', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'a')
  const b = talk.ask([go, a, user('on')], 'b')
  talk.ask([go, a, user('on'), b, user('end')], 'c')
  expect(classifyCalls(talk.trajectory)).toEqual(['kept', 'kept', 'kept'])
})

test('calls of an edited or compacted history are branches beside the way to the end', () => {
  const talk = new Talk()
  const a = talk.ask([go], 'a')
  talk.ask([go, a, user('on')], 'b')
  talk.ask([go, says('shortened'), user('on')], 'c')
  talk.ask([go, a, user('again')], 'd')
  const summary = user('so far it said a')
  const e = talk.ask([summary], 'e')
  talk.ask([summary, e, user('on')], 'f')
  expect(classifyCalls(talk.trajectory)).toEqual(['kept', 'branch', 'branch', 'kept', 'branch', 'branch'])
})

describe('a short answer that nothing uses', () => {
  const title = [system('Write a title.'), go]
  function withTitle(answer: string, rest: (talk: Talk) => void): unknown[] {
    const talk = new Talk()
    talk.ask(title, answer)
    rest(talk)
    return classifyCalls(talk.trajectory)
  }
  const conversation = (talk: Talk) => {
    const a = talk.ask([go], 'a')
    talk.ask([go, a, user('on')], 'b')
  }

  test('is a side call while another conversation goes on', () => {
    expect(withTitle('A walk', conversation)).toEqual(['side', 'kept', 'kept'])
  })

  test('is none where it comes back in another history', () => {
    const used = (talk: Talk) => {
      const a = talk.ask([go], 'a')
      talk.ask([go, a, user('The expert says: it opens at nine in the morning.')], 'b')
    }
    expect(withTitle('it opens at nine in the morning.', used)).toEqual(['branch', 'kept', 'kept'])
    // So little stands in other texts by chance.
    expect(withTitle('nine', used)).toEqual(['side', 'kept', 'kept'])
  })

  test('is none where it is long, or calls a tool, or goes on itself', () => {
    expect(withTitle('x'.repeat(401), conversation)[0]).toBe('branch')
    const talk = new Talk()
    talk.ask(title, says('', { toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] }))
    conversation(talk)
    expect(classifyCalls(talk.trajectory)[0]).toBe('branch')
    const on = new Talk()
    const a = on.ask(title, 'A walk')
    conversation(on)
    on.ask([...title, a, user('shorter')], 'Walk')
    expect(classifyCalls(on.trajectory)[0]).not.toBe('side')
  })

  test('is none where no conversation goes on: a chain of single calls is work', () => {
    const talk = new Talk()
    talk.ask([system('Plan.'), go], 'first this')
    talk.ask([system('Do.'), user('step')], 'done')
    expect(classifyCalls(talk.trajectory)).not.toContain('side')
  })

  test('is one beside a single call whose answer was said in the world', () => {
    const talk = new Talk()
    talk.recorder.append('agent', go)
    talk.recorder.append('agent', says('It opens at nine.'))
    talk.ask([go], 'It opens at nine.')
    expect(classifyCalls(talk.trajectory)).toEqual(['kept'])
    const beside = new Talk()
    beside.recorder.append('agent', user('When does it open?'))
    beside.recorder.append('agent', says('It opens at nine.'))
    beside.ask([system('Help.'), user('When does it open?')], 'It opens at nine.')
    beside.ask(title, 'Opening hours')
    expect(classifyCalls(beside.trajectory)).toEqual(['kept', 'side'])
  })
})

test('an agent whose system prompt changes at every call has no side calls', () => {
  const talk = new Talk()
  const a = talk.ask([system('It is nine.'), go], 'a')
  const b = talk.ask([system('It is ten.'), go, a, user('on')], 'b')
  talk.ask([system('It is eleven.'), go, a, user('on'), b, user('end')], 'c')
  expect(classifyCalls(talk.trajectory)).toEqual(['branch', 'branch', 'kept'])
})

test('of a prompt that was sent again the answer that was gone on with lives', () => {
  const talk = new Talk()
  talk.ask([go], 'lost')
  const a = talk.ask([go], 'a')
  talk.ask([go, a, user('on')], 'b')
  expect(classifyCalls(talk.trajectory)).toEqual(['dead', 'kept', 'kept'])
})

test('samples of a prompt that none went on from are all alive', () => {
  const talk = new Talk()
  for (const answer of ['a', 'b', 'c']) talk.ask([go], answer)
  expect(classifyCalls(talk.trajectory)).toEqual(['branch', 'branch', 'kept'])
})

test('another set of tools makes it another question', () => {
  const talk = new Talk()
  talk.ask([go], 'a', { tools: [] })
  const b = talk.ask([go], 'b', { tools: [{ name: 'f', description: '', parameters: {} }] })
  talk.ask([go, b, user('on')], 'c')
  expect(classifyCalls(talk.trajectory)).toEqual(['branch', 'kept', 'kept'])
})

test('what the program gave up is dead, what gave no answer failed, and other seats are not told of', () => {
  const talk = new Talk()
  talk.ask([go], 'half', { flags: ['client_left'] })
  talk.fail([go], { flags: ['client_left'] })
  talk.fail([go])
  talk.ask([go], 'a')
  talk.recorder.call('user', talk.recorder.path('user', [go]), says('I ask'), {
    model: 'm',
    atMs: 0,
    latencyMs: 0,
    waitMs: 0,
  })
  expect(classifyCalls(talk.trajectory)).toEqual(['dead', 'dead', 'failed', 'kept', undefined])
  expect(classifyCalls(talk.trajectory, 'user').at(-1)).toBe('kept')
})

test('sub-agents lie within the conversation that asked them', () => {
  const talk = new Talk()
  const a = talk.ask(
    [system('Lead.'), go],
    says('', { toolCalls: [{ id: 'c', name: 'ask', arguments: '{}' }] }),
  )
  const sub = [system('Search.'), user('find it')]
  for (let n = 0; n < 5; n++) {
    const found = talk.ask(sub, `found ${n}`)
    sub.push(found, user('more'))
  }
  talk.ask([system('Lead.'), go, a, { role: 'tool', toolCallId: 'c', content: 'found 4' }], 'done')
  expect(classifyCalls(talk.trajectory)).toEqual(['kept', ...Array(5).fill('branch'), 'kept'])
})
