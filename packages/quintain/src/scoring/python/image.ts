/** What the hosted vendor's image `2025-05-08` holds, by the name that a source imports. Azure's guide to graders, 0b864e8. */
export const imagePackages: Readonly<Record<string, { distribution: string; version: string }>> = {
  numpy: { distribution: 'numpy', version: '2.2.4' },
  scipy: { distribution: 'scipy', version: '1.15.2' },
  sympy: { distribution: 'sympy', version: '1.13.3' },
  pandas: { distribution: 'pandas', version: '2.2.3' },
  rapidfuzz: { distribution: 'rapidfuzz', version: '3.10.1' },
  sklearn: { distribution: 'scikit-learn', version: '1.6.1' },
  rouge_score: { distribution: 'rouge-score', version: '0.1.2' },
  deepdiff: { distribution: 'deepdiff', version: '8.4.2' },
  jsonschema: { distribution: 'jsonschema', version: '4.23.0' },
  pydantic: { distribution: 'pydantic', version: '2.10.6' },
  yaml: { distribution: 'pyyaml', version: '6.0.2' },
  nltk: { distribution: 'nltk', version: '3.9.1' },
  sqlparse: { distribution: 'sqlparse', version: '0.5.3' },
  rdkit: { distribution: 'rdkit', version: '2024.9.6' },
  skbio: { distribution: 'scikit-bio', version: '0.6.3' },
  ast_grep_py: { distribution: 'ast-grep-py', version: '0.36.2' },
}

/** Of the standard library, what graders import that takes a while. */
export const slowModules: ReadonlySet<string> = new Set([
  ...['json', 're', 'math', 'difflib', 'collections', 'datetime', 'decimal', 'fractions', 'statistics'],
  ...['string', 'typing', 'dataclasses', 'itertools', 'functools', 'random', 'ast', 'unicodedata', 'csv'],
  ...['io', 'hashlib', 'textwrap', 'html', 'urllib', 'xml', 'sqlite3', 'subprocess', 'tempfile', 'asyncio'],
])
