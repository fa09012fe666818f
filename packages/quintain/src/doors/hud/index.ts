export { hudDoor } from './door.ts'
export { exportHud } from './export-hud.ts'
export { type HudRow, hudRows } from './rows.ts'
