import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeHtml, html, raw } from './markup.ts'

test('whatever text is put into a page can neither open a tag, end an attribute nor hide', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const escaped = escapeHtml(text)
      expect(escaped).not.toMatch(/[<>"'\u0000-\u0008\u202a-\u202e\u2028\u2029]/)
      expect(escaped.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&')
    }),
  )
})

test('markup inside markup stands as it is, text is escaped, and nothing is left of what is absent', () => {
  const inner = html`<b>${'<i>'}</b>`
  expect(html`${[inner, ' & ']}${false}${null}${undefined}${0}${raw('<hr>')}`.text).toBe(
    '<b>&lt;i&gt;</b> &amp; 0<hr>',
  )
})
