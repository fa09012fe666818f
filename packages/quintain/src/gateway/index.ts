export type { Gateway, GatewayOptions, Lease, LeaseOptions } from './gateway.ts'
export * from './seat.ts'
export type { SeatAccount } from './seat-account.ts'
export { rolloutOver, SeatStop } from './seat-stop.ts'
