/**
 * A signal that aborts when one of two does. `AbortSignal.any` says the same, but leaves a trace on the signal of the
 * attempt for every call until the garbage collector comes by; this one is let go.
 */
export function eitherSignal(a: AbortSignal, b: AbortSignal): { signal: AbortSignal; letGo(): void } {
  const controller = new AbortController()
  const fromA = (): void => controller.abort(a.reason)
  const fromB = (): void => controller.abort(b.reason)
  if (a.aborted) fromA()
  else if (b.aborted) fromB()
  else {
    a.addEventListener('abort', fromA, { once: true })
    b.addEventListener('abort', fromB, { once: true })
  }
  return {
    signal: controller.signal,
    letGo() {
      a.removeEventListener('abort', fromA)
      b.removeEventListener('abort', fromB)
    },
  }
}
