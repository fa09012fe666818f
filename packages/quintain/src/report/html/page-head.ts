import { createHash } from 'node:crypto'
import { html, raw } from './markup.ts'

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%230b6e63'/%3E%3Ccircle cx='8' cy='8' r='3' fill='white'/%3E%3C/svg%3E"

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/**
 * What a page may do: run its one script, where it has one, use its one style sheet, and nothing that reaches out. Text that a
 * model wrote would not run even if it came into the page as HTML, and a script cannot make HTML of text (trusted types).
 */
function policyOf(style: string, script: string | undefined): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** A page of ours before its body. */
export interface PageHead {
  /** The beginning of every page of its kind. */
  mark: string
  title: string
  style: string
  /** The one script that the page may run; none when absent. */
  script?: string
  /** Seconds after which the page is read again from where it lies; never when absent. */
  refreshS?: number
}

/** Everything of a page up to the inside of `body`. */
export function pageHead({ mark, title, style, script, refreshS }: PageHead): string {
  return html`${raw(mark)}<html lang="en">
<head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${raw(policyOf(style, script))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">${
    refreshS !== undefined &&
    html`
<meta http-equiv="refresh" content="${refreshS}">`
  }
<title>${title}</title>
<link rel="icon" href="${raw(icon)}">
<style>${raw(style)}</style></head>
<body>
`.text
}
