import { nestsTooDeep } from '../../core/index.ts'
import type { GraderSample } from './grader.ts'

/** `sample.output_json`: as given, else the answer read as JSON; undefined for an answer that is none. */
export function outputJsonOf({ output_json, output_text }: GraderSample): unknown {
  return output_json === undefined ? jsonIn(output_text) : output_json
}

/** The value of a text that is JSON; undefined for what is none, or nests too deep. */
export function jsonIn(text: string): unknown {
  if (nestsTooDeep(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
