/** One server-sent event as text. `data` is JSON, so it has no line breaks outside of what it escapes. */
export function eventText(event: string | undefined, data: string): string {
  const lines = /[\r\n]/.test(data) ? data.replace(/\r\n|\r|\n/g, '\ndata: ') : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}
