export { openEnvDoor } from './door.ts'
export { exportOpenEnv } from './generate/export-openenv.ts'
export { type GenerateOptions, generateClient } from './generate/generate-client.ts'
