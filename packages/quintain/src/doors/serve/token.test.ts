import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageOf } from '../../core/index.ts'
import { plainDoor } from './__fixtures__/plain-door.ts'
import { checkHost, readToken } from './token.ts'

const token = 'c4nary-of-24-characters!'
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-token-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the token of a server', () => {
  test('comes from a variable or a file, without the line end of an editor', async () => {
    expect(await readToken({}, {})).toBeUndefined()
    expect(await readToken({ tokenEnv: 'QUINTAIN_TOKEN' }, { QUINTAIN_TOKEN: token })).toBe(token)
    const file = join(folder, 'token')
    await writeFile(file, `${token}\n`)
    expect(await readToken({ tokenFile: file }, {})).toBe(token)
  })

  test.each([
    ['15 characters', 'a'.repeat(15)],
    ['white space round 15 characters', ` ${'a'.repeat(15)} `],
    ['a space inside', 'fifteen letters and more'],
    ['a line break inside', 'a'.repeat(20).replace('aa', 'a\na')],
    ['a letter beyond ASCII', `${'a'.repeat(20)}é`],
  ])('is refused with %s, and the refusal holds none of it', async (_, weak) => {
    const file = join(folder, 'weak')
    await writeFile(file, weak)
    for (const reading of [readToken({ tokenEnv: 'T' }, { T: weak }), readToken({ tokenFile: file }, {})]) {
      const error = await reading.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ code: 'usage' })
      expect(JSON.stringify([messageOf(error), error])).not.toContain(weak.trim())
    }
  })

  test('of 16 characters is taken', async () => {
    expect(await readToken({ tokenEnv: 'T' }, { T: 'a'.repeat(16) })).toHaveLength(16)
  })

  test('that is not there is refused; a token in the place of a name is not repeated', async () => {
    await expect(readToken({ tokenEnv: 'ABSENT' }, {})).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('ABSENT'),
    })
    await expect(readToken({ tokenEnv: token }, {})).rejects.toMatchObject({
      code: 'usage',
      message: expect.not.stringContaining(token),
    })
    await expect(readToken({ tokenFile: join(folder, 'none') }, {})).rejects.toMatchObject({ code: 'usage' })
    await expect(readToken({ tokenEnv: 'T', tokenFile: 'f' }, { T: token })).rejects.toMatchObject({
      code: 'usage',
    })
  })
})

describe('where a door may listen', () => {
  const merging = plainDoor({ merges: true })
  const apart = plainDoor({ merges: false })

  test.each(['127.0.0.1', 'localhost', '::1'])('%s needs no token', (host) => {
    expect(() => checkHost(merging, { host })).not.toThrow()
  })

  test.each(['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org'])(
    '%s needs a token where the door merges planes',
    (host) => {
      expect(() => checkHost(merging, { host })).toThrow(expect.objectContaining({ code: 'usage' }))
      expect(() => checkHost(merging, { host, token })).not.toThrow()
      expect(() => checkHost(apart, { host })).not.toThrow()
    },
  )
})
