import { imagePackages, slowModules } from './image.ts'

const statement = /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([^\n#;]*)|import[ \t]+([^\n#;]+))/gm
const dotted = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/
const most = 64

/** What a source imports, found by its statements alone. */
export interface Imports {
  /** Packages of the vendor's image that it names, top level. */
  packages: string[]
  /** Modules to import beforehand: of these packages and of the standard library, and of nothing else. */
  modules: string[]
}

/** Reads the import statements of a Python source without running it. Total; one in a text is one too many, and does no harm. */
export function importsOf(source: string): Imports {
  const packages = new Set<string>()
  const modules = new Set<string>()
  const add = (name: string) => {
    const top = name.split('.')[0] ?? ''
    const known = Object.hasOwn(imagePackages, top)
    if (!dotted.test(name) || modules.size >= most || (!known && !slowModules.has(top))) return
    if (known) packages.add(top)
    modules.add(name)
  }
  for (const [, from, names = '', plain] of source.matchAll(statement)) {
    if (from === undefined) {
      for (const part of (plain ?? '').split(',')) add(part.trim().split(/[ \t]/)[0] ?? '')
      continue
    }
    add(from)
    // It may be a module: `from rapidfuzz import fuzz`.
    for (const part of names.replace(/[()\\]/g, '').split(','))
      add(`${from}.${part.trim().split(/[ \t]/)[0] ?? ''}`)
  }
  return { packages: [...packages].sort(), modules: [...modules].sort() }
}
