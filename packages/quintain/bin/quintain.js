#!/usr/bin/env node
// The published package holds compiled JavaScript; a checkout holds the sources, which Node runs by stripping types.
import { existsSync } from 'node:fs'

const source = new URL('../src/cli/main.ts', import.meta.url)
const compiled = new URL('../dist/cli/main.js', import.meta.url)
const { main } = await import((existsSync(source) ? source : compiled).href)
await main()
