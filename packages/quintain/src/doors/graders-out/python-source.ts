import { type Grader, parseFormula, parseTemplate } from '../../scoring/index.ts'
import { pythonString } from '../python-string.ts'
import { type GraderTarget, inexpressible } from './inexpressible.ts'
import { pythonFormula } from './python-formula.ts'
import { pythonRuntime } from './python-runtime.ts'
import { pythonMetric } from './python-similarity.ts'

/** Python that grades: `_grade(sample, item)` gives the score and the scores of the parts by name. */
export interface PythonSource {
  code: string
  /** What has to be installed beside it, with the versions that it was compared under. */
  requirements: string[]
}

/**
 * A hosted grader as Python. Throws `export_refused` for graders that ask a model or for embeddings, and for ones that read
 * what the platform does not hand over.
 */
export function pythonSource(
  grader: Grader,
  { target, sampleFields }: { target: GraderTarget; sampleFields: readonly string[] },
): PythonSource {
  const writer = new PythonWriter(target, sampleFields)
  if (grader.type !== 'multi') {
    writer.grader(grader, '_whole')
    writer.line('', '', 'def _grade(sample, item):', '    return _whole(sample, item), {}')
    return writer.done()
  }
  const reading = parseFormula(grader.calculateOutput)
  if (!reading.ok) throw inexpressible(target, grader.name, `its formula is none (${reading.message})`)
  const names = Object.keys(grader.graders)
  for (const [place, part] of Object.values(grader.graders).entries()) writer.grader(part, `_part_${place}`)
  writer.line('', '', 'def _grade(sample, item):', '    parts = {')
  for (const [place, name] of names.entries())
    writer.line(`        ${pythonString(name)}: _scored(_part_${place}, sample, item),`)
  writer.line('    }', `    return _finite(${pythonFormula(reading.formula)}, "the formula"), parts`)
  return writer.done()
}

class PythonWriter {
  private readonly target: GraderTarget
  private readonly sampleFields: readonly string[]
  private readonly lines: string[] = [pythonRuntime.trim(), '', '', scored.trim()]
  private readonly requirements = new Set<string>()
  private readonly metrics = new Set<string>()

  constructor(target: GraderTarget, sampleFields: readonly string[]) {
    this.target = target
    this.sampleFields = sampleFields
  }

  line(...lines: string[]): void {
    this.lines.push(...lines)
  }

  done(): PythonSource {
    return { code: `${this.lines.join('\n')}\n`, requirements: [...this.requirements].sort() }
  }

  /** A function of a name that gives the score of one grader. */
  grader(grader: Grader, name: string): void {
    const refuse = (why: string) => inexpressible(this.target, grader.name, why)
    switch (grader.type) {
      case 'string_check': {
        const texts = `${this.template(grader, grader.input)}, ${this.template(grader, grader.reference)}`
        this.line('', '', `def ${name}(sample, item):`)
        this.line(`    texts = [_render(part, sample, item) for part in (${texts})]`)
        this.line(`    return _string_check(${pythonString(grader.operation)}, texts[0], texts[1])`)
        return
      }
      case 'text_similarity': {
        const metric = pythonMetric(grader.metric)
        if (metric === undefined) throw refuse('cosine asks a server for embeddings')
        if (!this.metrics.has(grader.metric)) this.line('', metric.code.trimEnd())
        this.metrics.add(grader.metric)
        this.requirements.add(metric.requirement)
        const texts = `${this.template(grader, grader.input)}, ${this.template(grader, grader.reference)}`
        this.line('', '', `def ${name}(sample, item):`)
        this.line(`    text, reference = [_render(part, sample, item) for part in (${texts})]`)
        this.line('    if text == "" or reference == "":', '        return float(text == reference)')
        this.line(`    return _finite(_${grader.metric}(text, reference), ${pythonString(grader.name)})`)
        return
      }
      case 'python': {
        for (const field of ['output_tools', 'choices', 'output_audio'])
          if (!this.sampleFields.includes(field) && grader.source.includes(field))
            throw refuse(`its source reads ${field}, which the platform does not hand over`)
        // As it is, in a namespace of its own: what it calls its things is its own affair.
        this.line('', '', `${name}_module = {"__name__": "grader"}`)
        this.line(
          `exec(compile(${pythonString(grader.source)}, ${pythonString(`${grader.name}.py`)}, "exec"), ${name}_module)`,
        )
        this.line('', '', `def ${name}(sample, item):`)
        this.line(`    return _finite(${name}_module["grade"](sample, item), ${pythonString(grader.name)})`)
        return
      }
      case 'score_model':
      case 'label_model':
        throw refuse(`it asks the model ${grader.model}, which ${where[this.target]} does not`)
      case 'multi':
        throw refuse('it is a multi within a multi')
    }
  }

  /** A template as a tuple of texts and paths. */
  private template(grader: Grader, text: string): string {
    const reading = parseTemplate(text)
    if (!reading.ok) throw inexpressible(this.target, grader.name, reading.message)
    const parts = reading.parts.map((part) => {
      if ('text' in part) return pythonString(part.text)
      const [root, field = ''] = part.path
      if (root === 'sample' && !this.sampleFields.includes(field))
        throw inexpressible(
          this.target,
          grader.name,
          `it reads sample.${field}, which the platform does not hand over`,
        )
      return `[${part.path.map(pythonString).join(', ')}]`
    })
    return `[${parts.join(', ')}]`
  }
}

const where: Record<GraderTarget, string> = {
  openai: 'the file',
  runrl: 'a reward file',
  bedrock: 'this handler',
}

const scored = `
def _scored(grade, sample, item):
    try:
        return grade(sample, item)
    except SampleParseError:
        return 0.0
`
