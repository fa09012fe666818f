const wrappers: readonly RegExp[] = [
  /^\*\*(.*)\*\*$/s,
  /^__(.*)__$/s,
  /^\*(.*)\*$/s,
  /^`(.*)`$/s,
  /^\$\$(.*)\$\$$/s,
  /^\$([^$]*)\$$/,
  /^\\\((.*)\\\)$/s,
  /^\\\[(.*)\\\]$/s,
  /^\\(?:text|textbf|textit|mathrm|mathbf|mathit|mbox|emph|boldsymbol)\s?\{([^{}]*)\}$/,
  /^\{([^{}]*)\}$/,
  /^"([^"]*)"$/,
  /^'([^']*)'$/,
  /^“([^”]*)”$/,
]

/** Takes off what only says how a text is to look: bold, mathematics, wrappers, a final full stop, `x =`. */
export function withoutStyling(text: string): string {
  let bare = text.trim()
  for (let round = 0; round < 8; round++) {
    const before = bare
    bare = bare.replace(/(?<=[^\s.])[.,;:]$/, '').trim()
    for (const wrapper of wrappers) {
      const inner = wrapper.exec(bare)?.[1]
      if (inner !== undefined) bare = inner.trim()
    }
    if (bare === before) break
  }
  return bare
    .replace(/\\(?:left|right|displaystyle|,(?!\d)|;(?!\d)|!(?!\d)| )/g, ' ')
    .replace(/\\\$/g, '$')
    .replace(
      /(?:(\d)\s{0,4})?\\[dt]?frac\s{0,4}(?:\{\s{0,4}(\d{1,99})\s{0,4}\}\s{0,4}\{\s{0,4}(\d{1,99})\s{0,4}\}|(\d)(\d))/g,
      (_all, whole, a, b, c, d) =>
        [whole, `${a ?? c}/${b ?? d}`].filter((part) => part !== undefined).join(' '),
    )
    .replace(/^[a-zA-Z]\w{0,11}\s*=\s*(?=[-−+$€£¥₹.\d])/, '')
    .replace(/\\(?:text|textbf|mathrm|mbox)\s?\{([^{}]*)\}/g, ' $1')
    .trim()
}
