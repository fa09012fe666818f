import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ownArguments, shownTool } from './parameter-names.ts'

const tool = (names: string[], required: string[] = []) => ({
  name: 'search',
  description: 'Searches.',
  parameters: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string', title: name }])),
    required,
    additionalProperties: false,
  },
})

test('a tool whose parameters Python can name is shown as it is', () => {
  const given = tool(['text', 'from_day'], ['text'])
  const shown = shownTool(given)
  expect(shown).toEqual({
    listed: { name: 'search', description: 'Searches.', input_schema: given.parameters },
    own: undefined,
  })
  expect(ownArguments(shown, { text: 'a' })).toEqual({ text: 'a' })
})

test('the others get a name, and calls arrive under their own', () => {
  const shown = shownTool(tool(['from', 'from_', '2nd', 'e-mail', 'dict', ''], ['from', 'e-mail']))
  const { properties, required } = shown.listed.input_schema
  expect(Object.keys(properties as object)).toEqual(['from__', 'from_', '_2nd', 'e_mail', 'dict_', '_'])
  expect(required).toEqual(['from__', 'e_mail'])
  expect(ownArguments(shown, { from__: 1, from_: 2, _2nd: 3, e_mail: 4, dict_: 5, _: 6, other: 7 })).toEqual({
    from: 1,
    from_: 2,
    '2nd': 3,
    'e-mail': 4,
    dict: 5,
    '': 6,
    other: 7,
  })
  expect(ownArguments(shown, { from: 1 })).toEqual({ from: 1 })
})

test('whatever parameters are called, each is shown under a name of its own that leads back to it', () => {
  const names = fc.uniqueArray(
    fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom('in', 'in_', 'is', 'self', '__proto__', 'é', 'a b', 'a_b'),
    ),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(names, (own) => {
      const shown = shownTool(tool(own))
      const properties = shown.listed.input_schema['properties'] as Record<string, { title: string }>
      expect(Object.keys(properties)).toHaveLength(own.length)
      for (const name of Object.keys(properties)) {
        expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/)
        expect(ownArguments(shown, { [name]: 1 })).toEqual({ [properties[name]!.title]: 1 })
      }
    }),
  )
})
