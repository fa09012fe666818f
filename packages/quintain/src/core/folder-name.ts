/** A part of a folder's name from a path, a package or a policy: its last word in small letters, `''` where nothing is left. */
export function folderName(text: string): string {
  return text
    .toLowerCase()
    .replace(/^.*[/\\:](?=[^/\\:])/, '')
    .replace(/\.[cm]?[jt]s$/, '')
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 40)
}

/** The names as folders that are all different: a number is added where two would be one. */
export function folderNames(texts: readonly string[]): string[] {
  const taken = new Set<string>()
  return texts.map((text) => {
    const base = folderName(text) || 'run'
    let name = base
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`
    taken.add(name)
    return name
  })
}
