export * from './agent-function.ts'
export * from './chat.ts'
export * from './tool-loop.ts'
