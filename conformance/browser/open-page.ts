import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export interface OpenedPage {
  page: Page
  /** Messages of the console, errors of scripts, and requests for anything but the page itself. */
  complaints: string[]
  /** Milliseconds from the start of loading to the first text or picture on the screen. */
  firstPaint(): Promise<number>
  close(): Promise<void>
}

/** Opens a file as somebody who double-clicks it does, in a fresh profile, and listens to everything that it does. */
export async function openPage(
  browser: Browser,
  file: string,
  { hash = '', ...options }: BrowserContextOptions & { hash?: string } = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const complaints: string[] = []
  const own = pathToFileURL(file).href
  page.on('console', (message) => complaints.push(`console ${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(own) && !url.startsWith('data:')) complaints.push(`request: ${url}`)
  })
  await page.goto(`${own}${hash}`)
  return {
    page,
    complaints,
    firstPaint: async () => {
      const found = await page.evaluate<number>(`new Promise((done) => {
        const find = () => {
          const entry = performance.getEntriesByName('first-contentful-paint')[0]
          if (entry) done(entry.startTime)
          else setTimeout(find, 20)
        }
        find()
      })`)
      return found
    },
    close: () => context.close(),
  }
}

/** Elements of the page, and rows of its lists that are in the document. */
export function countElements(page: Page): Promise<{ all: number; rows: number }> {
  return page.evaluate(
    `({ all: document.querySelectorAll('*').length, rows: document.querySelectorAll('.row').length })`,
  )
}
