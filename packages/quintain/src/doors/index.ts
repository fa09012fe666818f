export * from './conversation.ts'
export * from './import-run.ts'
export * from './read-conversations.ts'
