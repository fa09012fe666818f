/** Marks parts of a report for a terminal, or does nothing. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

const wrap =
  (enabled: boolean, open: number, close: number) =>
  (text: string): string =>
    enabled && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text

function createStyle(enabled: boolean): Style {
  return {
    bold: wrap(enabled, 1, 22),
    dim: wrap(enabled, 2, 22),
    red: wrap(enabled, 31, 39),
    green: wrap(enabled, 32, 39),
    yellow: wrap(enabled, 33, 39),
    cyan: wrap(enabled, 36, 39),
  }
}

export const plainStyle: Style = createStyle(false)
export const colourStyle: Style = createStyle(true)

/**
 * Colours on a terminal only, and not where `NO_COLOR` is set to anything (https://no-color.org) or the terminal is `dumb`.
 * `FORCE_COLOR` other than `0` turns them on elsewhere.
 */
export function styleFor(
  stream: { isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return plainStyle
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') {
    return env.FORCE_COLOR === '0' ? plainStyle : colourStyle
  }
  return stream.isTTY === true && env.TERM !== 'dumb' ? colourStyle : plainStyle
}
