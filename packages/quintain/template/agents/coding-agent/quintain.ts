// How Quintain plays Qwen Code: in a box of its own, which holds the program, its settings and nothing else of this machine,
// and from which nothing can be reached but the run's gateway and the world's tools.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from 'quintain/harness'

const settings = {
  mcpServers: { shop: { httpUrl: '$QUINTAIN_MCP_URL', trust: true } },
  security: { auth: { selectedType: 'openai' } },
  telemetry: { enabled: false },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
}

export default command({
  // What the customer says comes on standard input; the session is found again by the folder.
  argv: ['/opt/node/node', '/opt/qwen-code/cli.js', '--yolo', '--continue'],
  answer: 'stdout',
  sandbox: 'bwrap',
  mounts: [
    { target: '/opt/node', source: dirname(process.execPath) },
    { target: '/opt/qwen-code', source: dirname(fileURLToPath(import.meta.resolve('@qwen-code/qwen-code'))) },
  ],
  files: { '.qwen/settings.json': JSON.stringify(settings) },
  env: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  name: '__EXAMPLE__',
})
