const words =
  'order rollout record world turn reward task trajectory verdict journal seat policy group model token limit '.repeat(
    64,
  )

/** Text of a prompt: another beginning for each task, as long as asked for. */
export function promptText(index: number, chars: number): string {
  const start = `Question ${index}. `
  return start + words.slice(index % 97, (index % 97) + Math.max(0, chars - start.length))
}

/** Text of every reply, ending in the answer. */
export function replyText(chars: number): string {
  return `${words.slice(0, Math.max(0, chars - 5))} done`
}
