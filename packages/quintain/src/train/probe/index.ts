export { type ProbeOptions, type ProbeProgress, probe, probeFile } from './probe.ts'
export * from './probe-record.ts'
