/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// What runs in the page of `report --html`. It stands in the page as one script (see ../link-script.ts) and loads nothing.
import { dataIds, type PageIndex } from '../page-data.ts'
import { Explorer, tellBroken } from './explorer.ts'
import { unpack } from './unpack.ts'

async function start(): Promise<void> {
  const index = await unpack<PageIndex>(dataIds.index)
  if (index !== undefined) new Explorer(index)
}

start().catch(tellBroken)
