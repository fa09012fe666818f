export type { Finding } from './findings.ts'
export type { HostedPackage } from './hosted-package.ts'
export { importEvals } from './import-evals.ts'
export { importRft, type RftFiles } from './import-rft.ts'
