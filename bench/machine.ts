import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** Where and when figures were measured: without it they mean nothing. */
export function machineLines(): string[] {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  const gib = (totalmem() / 2 ** 30).toFixed(1)
  return [
    `machine  ${availableParallelism()} cores used of ${cpus().length} (${model}), ${gib} GiB, ${process.platform} ${release()}`,
    `node     ${process.versions.node} (v8 ${process.versions.v8})`,
    `date     ${new Date().toISOString()}`,
  ]
}
