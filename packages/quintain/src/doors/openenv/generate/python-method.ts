import type { ToolSpec } from '../../../core/index.ts'
import { pythonString } from '../../python-string.ts'
import { docText, pythonName } from './python-text.ts'
import { pythonType } from './python-type.ts'

interface Parameter {
  /** On the wire. */
  name: string
  python: string
  type: string
  required: boolean
  description: string
}

/** A tool as a method whose signature and docstring say what its schema says, in the form that TRL makes a schema of. */
export function pythonMethod(tool: ToolSpec, method: string): string {
  const parameters = parametersOf(tool)
  const signature = ['self', ...parameters.map(written)].join(', ')
  const given = (required: boolean) => {
    const chosen = parameters.filter((one) => one.required === required)
    return `{${chosen.map(({ name, python }) => `${pythonString(name)}: ${python}`).join(', ')}}`
  }
  const args = parameters.map(({ python, description }) => `            ${python}: ${description}`)
  return [
    `    def ${method}(${signature}) -> str:`,
    `        """${docText(tool.description) || `Calls ${docText(tool.name)}.`}`,
    ...(args.length === 0 ? [] : ['', '        Args:', ...args]),
    '',
    '        Returns:',
    '            What the environment answers.',
    '        """',
    `        return self._call(${pythonString(tool.name)}, ${given(true)}, ${given(false)})`,
  ].join('\n')
}

/** Those that must be given first, as Python wants them. */
function parametersOf({ parameters }: ToolSpec): Parameter[] {
  const { properties, required } = parameters as { properties?: unknown; required?: unknown }
  if (typeof properties !== 'object' || properties === null) return []
  const must = new Set(Array.isArray(required) ? required : [])
  const taken = new Set(['self'])
  const all = Object.entries(properties).map(([name, schema]) => {
    const python = pythonName(name, taken, 'argument')
    const { description } = (typeof schema === 'object' && schema !== null ? schema : {}) as Record<
      string,
      unknown
    >
    const said = typeof description === 'string' ? docText(description) : ''
    return {
      name,
      python,
      type: pythonType(schema),
      required: must.has(name),
      description: said === '' ? `The ${docText(name) || 'argument'}.` : said,
    }
  })
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)]
}

function written({ python, type, required }: Parameter): string {
  if (required) return `${python}: ${type}`
  const optional = type === 'Any' || / \| None$|^None$/.test(type) ? type : `${type} | None`
  return `${python}: ${optional} = None`
}
