export { exportVerifiers } from './export-verifiers.ts'
