import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { ToolSpec } from '../../packages/quintain/src/core/index.ts'
import { generateClient } from '../../packages/quintain/src/doors/openenv/index.ts'
import type { Peers } from './peers.ts'

/** What would end a string, a docstring, a line or a file of Python, or be taken for a part of a docstring. */
const spiteful = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        '"""',
        "'''",
        '\\',
        '"',
        '\n',
        '\r',
        '\u0000',
        '\u2028',
        '\u202e',
        '\ufeff',
        '\ud800',
        '{x}',
        '%s',
        '#',
        ';import os',
        '\n    Args:\n        y: z',
        'Returns: 1',
        '(choices: [1])',
        '\\N{DASH}',
        '\\u12',
        'ü',
        '😀',
        ' ',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('')),
)

const name = fc.oneof(
  spiteful,
  fc.constantFrom(
    'class',
    'self',
    'reset',
    'get_reward',
    '_call',
    '__init__',
    'str',
    'dict',
    'list',
    'Any',
    'None',
    '1',
    '',
  ),
)
const schema = fc.oneof(
  fc.constantFrom<Record<string, unknown>>(
    { type: 'string' },
    { type: ['integer', 'null'] },
    { type: 'array', items: { type: 'number' } },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { $ref: '#/$defs/x' },
    {},
  ),
  fc.record({ type: fc.constant('string'), description: spiteful }),
  fc.record({ enum: fc.array(fc.oneof(spiteful, fc.integer(), fc.boolean(), fc.constant(null))) }),
)
const tool: fc.Arbitrary<ToolSpec> = fc
  .record({
    name,
    description: spiteful,
    properties: fc.array(fc.tuple(name, schema, fc.boolean()), { maxLength: 4 }),
  })
  .map(({ name, description, properties }) => {
    const required = properties.filter(([, , must]) => must).map(([parameter]) => parameter)
    const fields = Object.fromEntries(properties.map(([parameter, one]) => [parameter, one]))
    return { name, description, parameters: { type: 'object', properties: fields, required } }
  })

/** Packages of environments whose names and texts are as bad as can be: they compile, and mean what was said. */
export async function checkHostile(peers: Peers, folder: string): Promise<void> {
  const samples = fc.sample(fc.tuple(fc.array(tool, { minLength: 1, maxLength: 4 }), spiteful), {
    numRuns: 60,
    seed: 7,
  })
  const root = join(folder, 'hostile')
  const wish = samples.map(([tools, text], at) => {
    const environment = {
      name: `@evil/${text}`,
      version: text,
      slug: `env${at}`,
      description: text,
      digest: '',
      needs: ['tools'] as const,
      rewards: {},
      metrics: [],
      success: true,
    }
    const files = generateClient({
      environment,
      tools,
      url: `http://x/${text}`,
      served: [text],
      split: text,
    })
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    const parameters = tools.map((one) => Object.keys(one.parameters['properties'] as object))
    return {
      module: `env${at}_env`,
      prefix: `Env${at}`,
      tools: tools.map((one) => one.name),
      parameters,
      text,
    }
  })
  const compiled = await peers.run(['-m', 'compileall', '-q', root])
  peers.check('hostile: every module compiles', compiled, { code: 0, out: '' })
  const told = await peers.ask<string[]>('hostile.py', { package: root, modules: wish })
  peers.check('hostile: every call is the one that was meant', told, [])
}
