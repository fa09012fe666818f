// How Quintain plays Qwen Code: in a box of its own, which holds the program and nothing else of this machine, and from
// which nothing can be reached but the run's gateway and the world's tools. It is started for each message of the customer,
// and goes on with the session of its folder.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from 'quintain/harness'

const program = fileURLToPath(import.meta.resolve('@qwen-code/qwen-code'))

export default command({
  argv: [
    'sh',
    '-c',
    `exec /opt/node/node /opt/qwen-code/cli.js --bare --yolo --continue --auth-type openai \\
      --mcp-config '{"mcpServers":{"shop":{"httpUrl":"'$QUINTAIN_MCP_URL'"}}}' --prompt="$0"`,
    '{input}',
  ],
  task: 'args',
  sandbox: 'bwrap',
  mounts: [
    { source: dirname(process.execPath), target: '/opt/node' },
    { source: dirname(program), target: '/opt/qwen-code' },
  ],
  env: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  name: '__EXAMPLE__',
})
