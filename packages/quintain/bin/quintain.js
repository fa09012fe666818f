#!/usr/bin/env node
// The published package holds compiled JavaScript; a checkout holds the sources, which Node runs by stripping types.
import { existsSync } from 'node:fs'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `quintain needs Node 22.18 or newer; this is ${process.versions.node}. Install one into the project: npm install -D node@24, then the same command.`,
  )
  process.exit(2)
}
const source = new URL('../src/cli/main.ts', import.meta.url)
const compiled = new URL('../dist/cli/main.js', import.meta.url)
const { main } = await import((existsSync(source) ? source : compiled).href)
await main()
