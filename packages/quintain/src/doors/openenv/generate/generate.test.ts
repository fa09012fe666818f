import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeCore } from '../../session/__fixtures__/fake-core.ts'
import { exportOpenEnv } from './export-openenv.ts'
import { pythonNames } from './generate-client.ts'
import { pythonMethod } from './python-method.ts'
import { docText, pythonName } from './python-text.ts'
import { pythonType } from './python-type.ts'

describe('texts', () => {
  test('a docstring has neither an end nor a section of its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const doc = docText(`${text}"""\nxReturns: 1\r\u0085(choices: [1])\\`)
        expect(doc).not.toMatch(/[\n\r\u0000-\u001f\u0085\u2028]/)
        expect(doc.replace(/\\./g, '')).not.toMatch(/["\\]/)
        expect(doc).not.toMatch(/(Args|Returns|Raises):|\(choices:/)
      }),
    )
    expect(docText('Says   “ü”\n\t😀.')).toBe('Says “ü” 😀.')
    expect(docText('a\u202eb')).toBe('a\\u202eb')
  })

  test('names are names, each once', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        const taken = new Set(['self'])
        const names = texts.map((text) => pythonName(text, taken, 'argument'))
        for (const name of names) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]*$/)
        expect(new Set(names).size).toBe(names.length)
        expect(names).not.toContain('self')
      }),
    )
    const taken = new Set<string>()
    const names = ['class', 'class', '__init__', '1st', 'e-mail', 'ﬁ'].map((text) =>
      pythonName(text, taken, 'x'),
    )
    expect(names).toEqual(['class_2', 'class_3', 'init__', 'x_1st', 'e_mail', 'x'])
  })
})

test.each([
  [{ type: 'string' }, 'str'],
  [{ type: 'integer' }, 'int'],
  [{ type: ['number', 'null'] }, 'float | None'],
  [{ type: 'array', items: { type: 'boolean' } }, 'list[bool]'],
  [{ type: 'array' }, 'list[Any]'],
  [{ type: 'object', properties: {} }, 'dict[str, Any]'],
  [{ enum: ['a', 'b"', null, 1, true] }, 'Literal["a", "b\\"", None, 1, True]'],
  [{ enum: [1.5] }, 'Any'],
  [{ enum: [] }, 'Any'],
  [{ const: 'x' }, 'Literal["x"]'],
  [{ anyOf: [{ type: 'null' }, { type: 'integer' }] }, 'int | None'],
  [{ anyOf: [{ type: 'integer' }, { $ref: '#/x' }] }, 'Any'],
  [{ type: 'nonsense' }, 'Any'],
  [true, 'Any'],
])('%j is %s', (schema, type) => {
  expect(pythonType(schema)).toBe(type)
})

test('a tool becomes a method: what must be given first, the others may be left out', () => {
  const parameters = {
    type: 'object',
    properties: {
      note: { type: 'string', description: 'A note.' },
      by: { type: 'integer' },
      'e-mail': { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['by'],
  }
  expect(pythonMethod({ name: 'add', description: 'Adds.', parameters }, 'add')).toBe(
    `    def add(self, by: int, note: str | None = None, e_mail: str | None = None) -> str:
        """Adds.

        Args:
            by: The by.
            note: A note.
            e_mail: The e-mail.

        Returns:
            What the environment answers.
        """
        return self._call("add", {"by": by}, {"note": note, "e-mail": e_mail})`,
  )
})

describe('packages', () => {
  const written = async (kind: 'game' | 'tools') => {
    const out = await mkdtemp(join(tmpdir(), 'quintain-openenv-'))
    onTestFinished(() => rm(out, { recursive: true, force: true }))
    const core = fakeCore({ kind })
    const told = await exportOpenEnv({ core, reference: './fake', out, url: 'http://127.0.0.1:9/' })
    const texts: Record<string, string> = {}
    for (const file of told.files) texts[file] = await readFile(join(out, file), 'utf8')
    return { ...told, texts, core }
  }

  test('of an environment with tools: each is a method, and nothing is played', async () => {
    const { texts, notes, core } = await written('tools')
    const trl = texts['fake_env/trl_environment.py']!
    expect([...trl.matchAll(/^ {4}def ([a-z]\w*)/gm)].map(([, name]) => name)).toEqual([
      'reset',
      'get_reward',
      'add',
      'read',
      'submit_answer',
    ])
    expect(texts['fake_env/models.py']).toContain('tool_name: Literal["add", "read", "submit_answer"]')
    expect(texts['fake_env/client.py']).toContain('os.environ.get("FAKE_ENV_URL", "http://127.0.0.1:9")')
    expect(texts['pyproject.toml']).toContain('name = "openenv-fake"')
    expect(notes[0]).toContain('FakeEnv is its client')
    expect(core.stats().created).toBe(0)
  })

  test('of one that answers: its action is what is said, and TRL speaks by a method', async () => {
    const { texts } = await written('game')
    expect(texts['fake_env/models.py']).toContain('message: str = Field(...')
    expect(texts['fake_env/trl_environment.py']).toContain('def say(self, message: str) -> str:')
  })

  test.each([
    ['word_game', 'word_game_env', 'WordGame'],
    ['3d_shapes', 'env_3d_shapes_env', 'Env3dShapes'],
    ['a__b', 'a__b_env', 'AB'],
  ])('names of %s', (slug, module, prefix) => {
    const { environment } = fakeCore({ slug })
    expect(pythonNames(environment)).toEqual({ module, prefix })
  })
})
