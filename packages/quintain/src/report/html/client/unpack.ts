/** The JSON of an element that holds packed data; undefined when the page has no such element. */
export async function unpack<T>(id: string): Promise<T | undefined> {
  const text = document.getElementById(id)?.textContent
  if (text === undefined || text === null) return undefined
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  // What is in the page is what the same version of Quintain put there.
  return (await new Response(json).json()) as T
}

/** Resolves when all of the page is there: trajectories stand at its end. */
export function wholePage(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve()
  return new Promise((done) => document.addEventListener('DOMContentLoaded', () => done(), { once: true }))
}
