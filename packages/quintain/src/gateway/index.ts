export type { Gateway, GatewayOptions, Lease, LeaseOptions } from './gateway.ts'
export * from './seat.ts'
