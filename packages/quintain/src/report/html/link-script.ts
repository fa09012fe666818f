import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { QuintainError } from '../../core/index.ts'

const importLine = /^import\s*\{([^}]*)\}\s*from\s*(['"])(\.{1,2}\/[^'"]+)\2;?[ \t]*$/gm
const exportWord = /^export\s+((?:async\s+)?function\*?|class|const|let)\s+([A-Za-z_$][\w$]*)/gm

/** JavaScript of a module: as it was built, or, in a checkout, the source without its types. */
function codeOf(url: URL): string {
  const source = readFileSync(fileURLToPath(url), 'utf8')
  if (!url.pathname.endsWith('.ts')) return source
  // Node says of this function that it is experimental; what users install is built and never gets here.
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

/**
 * One classic script of a module and all that it imports, each module in a scope of its own: what a bundler would do, for
 * modules that are written for it (named imports of relative files, and `export` before declarations). Throws `internal`
 * for one that is not.
 */
export function linkScript(entry: URL): string {
  const names = new Map<string, string>()
  const modules: string[] = []
  const refuse = (url: URL, why: string): never => {
    throw new QuintainError('internal', `The script of the page cannot be put together: ${why}.`, {
      facts: { file: url.pathname.replace(/^.*\//, '') },
    })
  }
  const add = (url: URL, under: readonly string[]): string => {
    const known = names.get(url.href)
    if (known !== undefined) return known
    if (under.includes(url.href)) refuse(url, 'its modules import each other in a circle')
    const exported: string[] = []
    const body = codeOf(url)
      .replace(importLine, (_line, list: string, _quote, path: string) => {
        const from = add(new URL(path, url), [...under, url.href])
        const wanted = list.split(',').map((name) => name.trim().replace(/\s+as\s+/, ': '))
        return `const { ${wanted.filter((name) => name !== '').join(', ')} } = ${from}`
      })
      .replace(exportWord, (_line, kind: string, name: string) => {
        exported.push(name)
        return `${kind} ${name}`
      })
      .replace(/^export\s*\{\s*\};?[ \t]*$/gm, '')
    if (/^(import|export)\b/m.test(body)) refuse(url, 'it imports or exports in a way that is not linked')
    const name = `m${names.size}`
    names.set(url.href, name)
    // Empty lines are what types leave behind.
    const code = body
      .replace(/^\/\/\/ <reference.*$/gm, '')
      .replace(/\n\s*\n+/g, '\n')
      .trim()
    modules.push(`const ${name} = (() => {\n${code}\nreturn { ${exported.join(', ')} }\n})()`)
    return name
  }
  add(entry, [])
  const script = `(() => {\n'use strict'\n${modules.join('\n')}\n})()`
  if (/<\/script|<!--/i.test(script)) refuse(entry, 'it holds what would end it')
  return script
}
