import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnswerReader } from './answer.ts'
import { importsOf } from './imports.ts'

test('import statements are read without running the source', () => {
  const source = `import numpy as np, json
from rapidfuzz import fuzz, utils as u  # both
from sklearn.metrics.pairwise import cosine_similarity
import os.path
  import requests
def grade(s, i):
    from sympy import (
        simplify)
`
  expect(importsOf(source)).toEqual({
    packages: ['numpy', 'rapidfuzz', 'sklearn', 'sympy'],
    modules: [
      ...['json', 'numpy', 'rapidfuzz', 'rapidfuzz.fuzz', 'rapidfuzz.utils'],
      ...['sklearn.metrics.pairwise', 'sklearn.metrics.pairwise.cosine_similarity', 'sympy'],
    ],
  })
})

test('nothing but packages of the image and known modules is imported beforehand, whatever a source says', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { modules } = importsOf(`import ${text}\nfrom ${text} import ${text}\n${text}`)
      for (const name of modules) expect(name).toMatch(/^[A-Za-z_][\w.]*$/)
    }),
  )
  expect(importsOf('import antigravity, __hello__\nfrom __proto__ import constructor')).toEqual({
    packages: [],
    modules: [],
  })
})

test('an answer is found wherever its pieces are cut, and no other line is one', () => {
  const line = Buffer.from(
    `noise\n0 ok MS4w e30=\n\nabc ok ${btoa('0.5')} ${btoa('{"python":"3.11.2","packages":{}}')}\n`,
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: line.length }),
      fc.integer({ min: 0, max: line.length }),
      (a, b) => {
        const reader = new AnswerReader('abc')
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const found = [line.subarray(0, from), line.subarray(from, to), line.subarray(to)].map((part) =>
          reader.take(part),
        )
        expect(found.find((one) => one !== undefined)).toEqual({
          kind: 'ok',
          text: '0.5',
          python: '3.11.2',
          packages: {},
        })
      },
    ),
  )
  expect(new AnswerReader('other').take(line)).toBeUndefined()
})
