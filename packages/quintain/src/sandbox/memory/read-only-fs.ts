import type { IFileSystem } from 'just-bash'

/** What changes files, of a file system of `just-bash`. */
const changing = [
  'writeFile',
  'appendFile',
  'mkdir',
  'rm',
  'mv',
  'cp',
  'chmod',
  'symlink',
  'link',
  'utimes',
] as const

/** The same files, none of which can be changed. */
export function readOnlyFs(inner: IFileSystem): IFileSystem {
  const refuse = (path: unknown): Promise<never> =>
    Promise.reject(
      Object.assign(new Error(`EROFS: read-only file system, '${String(path)}'`), { code: 'EROFS' }),
    )
  const guard: Partial<Record<string | symbol, unknown>> = Object.fromEntries(
    changing.map((name) => [name, refuse]),
  )
  return new Proxy(inner, {
    get(target, name) {
      if (guard[name] !== undefined) return guard[name]
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
