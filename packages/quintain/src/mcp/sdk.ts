import { QuintainError } from '../core/errors.ts'

/** The SDK is an optional peer: only who uses this room installs it, and only then is it loaded. */
export const loadClient = (): Promise<typeof import('@modelcontextprotocol/client')> =>
  load('@modelcontextprotocol/client', () => import('@modelcontextprotocol/client'))

export const loadServer = (): Promise<typeof import('@modelcontextprotocol/server')> =>
  load('@modelcontextprotocol/server', () => import('@modelcontextprotocol/server'))

export const loadValidator = (): Promise<typeof import('@modelcontextprotocol/client/validators/ajv')> =>
  load('@modelcontextprotocol/client', () => import('@modelcontextprotocol/client/validators/ajv'))

async function load<Module>(name: string, get: () => Promise<Module>): Promise<Module> {
  try {
    return await get()
  } catch (cause) {
    throw new QuintainError('needs_unmet', `MCP needs the package ${name}, version 2: npm install ${name}`, {
      cause,
      facts: { package: name },
    })
  }
}
