export * from './seat.ts'
