export * from './import-foreign.ts'
