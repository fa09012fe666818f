export * from './write-page.ts'
