/** NeMo Gym: a resources server, rows of its data sets, and the files by which NeMo Gym starts the server. */
export { nemoGymDoor } from './door.ts'
export { exportNemoGym } from './export-nemo-gym.ts'
export { type NemoAgent, type NemoRowsOptions, nemoRow, nemoRows } from './rows.ts'
export { verifiersToml } from './verifiers-toml.ts'
