import { printableLine } from './printable.ts'
import type { RunSummary } from './summarize.ts'
import { reportRows, runTitle, unfinishedText } from './text.ts'

/** Text of others as literal Markdown: no table cell, link, image, tag or emphasis comes out of it. */
export function markdownText(text: string): string {
  return printableLine(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/([\\`*_[\]|!#~])/g, '\\$1')
}

/** A report as GitHub-flavoured Markdown. */
export function formatMarkdown(summary: RunSummary): string {
  const lines = [`### ${markdownText(runTitle(summary))}`, '', '| | | |', '|---|---|---|']
  for (const { label, value, note, mood } of reportRows(summary)) {
    const shown = mood === 'headline' ? `**${markdownText(value)}**` : markdownText(value)
    lines.push(`| ${label} | ${shown} | ${markdownText(note ?? '')} |`)
  }
  const unfinished = unfinishedText(summary)
  if (unfinished !== undefined) lines.push('', markdownText(unfinished))
  const { environment, quintain, node, seed } = summary.run
  lines.push(
    '',
    markdownText(
      `Environment digest ${environment.digest.slice(0, 16)}, options ${JSON.stringify(environment.options)}, seed ${seed}, quintain ${quintain}, node ${node}.`,
    ),
  )
  return `${lines.join('\n')}\n`
}
