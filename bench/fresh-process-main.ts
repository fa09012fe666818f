/** The process that `inFreshProcess` starts: module, function, arguments as JSON. */
const [module, name, args] = process.argv.slice(2) as [string, string, string]
const found = ((await import(module)) as Record<string, unknown>)[name]
if (typeof found !== 'function') throw new Error(`${module} exports no function ${name}`)
const value: unknown = await found(...(JSON.parse(args) as unknown[]))
process.send?.({ value }, () => process.disconnect())
