import type { Page } from 'playwright-core'

/** Runs in the page: texts whose contrast with what lies behind them is below `least` (WCAG 2.2, success criterion 1.4.3). */
const find = `(least) => {
  const numbers = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number)
    return found.length < 4 ? [...found, 1] : found
  }
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a] = numbers(getComputedStyle(at).backgroundColor)
      if (a > 0) return [r, g, b]
    }
    return [255, 255, 255]
  }
  const poor = new Set()
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!own || element.closest('script,style,noscript,[hidden],.hidden,.skip,title,option') || element.getClientRects().length === 0) continue
    const style = getComputedStyle(element)
    const [r, g, b] = numbers(element instanceof SVGElement ? style.fill : style.color)
    const [light, dark] = [luminance([r, g, b]), luminance(ground(element))].sort((x, y) => y - x)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < least) poor.add(element.tagName.toLowerCase() + '.' + (element.getAttribute('class') ?? '') + ' ' + ratio.toFixed(2))
  }
  return [...poor]
}`

export function poorContrast(page: Page, least = 4.5): Promise<string[]> {
  return page.evaluate(`(${find})(${least})`)
}
