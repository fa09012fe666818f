export * from './json-parse.ts'
export * from './random-value.ts'
export * from './scripted.ts'
export * from './tool-call.ts'
