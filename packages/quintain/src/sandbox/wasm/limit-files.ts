/** A file of an interpreter in WebAssembly: in memory, in one array. */
interface FileNode {
  contents?: { length: number } | null
}

interface Stream {
  node: FileNode
  position: number
}

/** Of Emscripten's file system: all through which a file grows. */
interface MemoryFiles {
  write(stream: Stream, bytes: ArrayLike<number>, offset: number, length: number, ...rest: unknown[]): number
  ErrnoError: new (code: number) => Error
  filesystems: {
    MEMFS: {
      expandFileStorage(node: FileNode, capacity: number): void
      resizeFileStorage(node: FileNode, size: number): void
    }
  }
}

const noSpace = 51

/**
 * From now on files take `bytes` and no more: Python meets `No space left on device`. What a removed file took is given back
 * only when the file was emptied before.
 */
export function limitFiles(files: MemoryFiles, bytes: number): void {
  let held = 0
  let within = false
  const limited = <T>(node: FileNode, size: number, change: () => T): T => {
    if (within) return change()
    const before = node.contents?.length ?? 0
    // Storage grows by an eighth at a time, or doubles where it is small.
    if (size > before && held + 1.25 * (size - before) > bytes) throw new files.ErrnoError(noSpace)
    within = true
    try {
      return change()
    } finally {
      within = false
      held += (node.contents?.length ?? 0) - before
    }
  }
  const { MEMFS } = files.filesystems
  const write = files.write.bind(files)
  const expand = MEMFS.expandFileStorage.bind(MEMFS)
  const resize = MEMFS.resizeFileStorage.bind(MEMFS)
  files.write = (stream, from, offset, length, ...rest) => {
    const [position] = rest
    const at = typeof position === 'number' ? position : stream.position
    return limited(stream.node, at + length, () => write(stream, from, offset, length, ...rest))
  }
  MEMFS.expandFileStorage = (node, capacity) => limited(node, capacity, () => expand(node, capacity))
  MEMFS.resizeFileStorage = (node, size) => limited(node, size, () => resize(node, size))
}
