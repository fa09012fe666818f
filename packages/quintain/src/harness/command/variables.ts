import type { ModelAddress } from '../../core/index.ts'
import { SeatStop } from '../../gateway/index.ts'

/** Stops what programs would otherwise send about themselves and their runs to somebody. */
const quiet: Readonly<Record<string, string>> = {
  DO_NOT_TRACK: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  OTEL_SDK_DISABLED: 'true',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  ANONYMIZED_TELEMETRY: 'false',
}

/** Addresses as the program reaches them from where it is. */
export interface Links {
  model: (Pick<ModelAddress, 'apiKey' | 'model'> & { baseURL: string; anthropicBaseURL: string }) | undefined
  tools: string | undefined
  mcp: { url: string; headers: Readonly<Record<string, string>> } | undefined
  endpoints: Readonly<Record<string, string>>
}

/**
 * Variables by which a program is told what to load, where to look or whom to trust. A world has no rights of ours, and an
 * endpoint of this name would lend it those of the program.
 */
const reserved =
  /^(?:PATH|HOME|SHELL|USER|LANG|PWD|TMPDIR|ENV|IFS|EDITOR|PAGER|LC_.*|LD_.*|DYLD_.*|GLIBC_.*|GCONV_.*|MALLOC_.*|BASH.*|NODE_.*|NPM_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|_JAVA_.*|JDK_.*|DOTNET_.*|LUA_.*|PHP.*|GIT_.*|SSH_.*|SSL_.*|CURL_.*|REQUESTS_.*|XDG_.*|.*_PROXY|OPENAI_.*|ANTHROPIC_.*|QUINTAIN_.*)$/i

/**
 * The variables that a program is given, beside those that its user declares. Throws a fault of the world for an endpoint
 * whose name is one of those above.
 */
export function variablesOf(links: Links, taskFile: string): Record<string, string> {
  const { model, tools, mcp, endpoints } = links
  const variables: Record<string, string> = { ...quiet, QUINTAIN_TASK_FILE: taskFile }
  if (model !== undefined)
    Object.assign(variables, {
      OPENAI_BASE_URL: model.baseURL,
      // The older name, which some frameworks still read.
      OPENAI_API_BASE: model.baseURL,
      OPENAI_API_KEY: model.apiKey,
      OPENAI_MODEL: model.model,
      ANTHROPIC_BASE_URL: model.anthropicBaseURL,
      ANTHROPIC_API_KEY: model.apiKey,
      ANTHROPIC_MODEL: model.model,
      QUINTAIN_MODEL: model.model,
    })
  if (tools !== undefined) variables['QUINTAIN_TOOLS_URL'] = tools
  if (mcp !== undefined) {
    variables['QUINTAIN_MCP_URL'] = mcp.url
    if (Object.keys(mcp.headers).length > 0) variables['QUINTAIN_MCP_HEADERS'] = JSON.stringify(mcp.headers)
  }
  for (const name of Object.keys(endpoints)) if (reserved.test(name)) throw reservedEndpoint(name)
  return { ...variables, ...endpoints }
}

function reservedEndpoint(name: string): SeatStop {
  return new SeatStop({
    fault: {
      owner: 'world',
      stage: 'open',
      code: 'endpoint_reserved',
      message: `world.endpoints() names ${name}, which tells programs what to load or where to look; give it a name of its own`,
      retryable: false,
    },
  })
}
