import { type FakeModelOptions, startFakeModel } from './fake-server.ts'

/** The process that `forkFakeModel` starts: its argument is the options, its first message the base URL. */
const options = JSON.parse(process.argv[2] ?? '{}') as FakeModelOptions
const fake = await startFakeModel({ ...options, record: false })
process.on('disconnect', () => process.exit(0))
process.send?.(fake.url)
