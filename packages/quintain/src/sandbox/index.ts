export { bwrapDriver } from './bwrap/driver.ts'
