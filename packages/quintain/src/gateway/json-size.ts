const quote = 0x22
const backslash = 0x5c

/**
 * How many values JSON holds, before anybody makes objects of it: what is three bytes takes dozens when it is read. Counts
 * what separates and opens outside strings, so that it says a little more than there is, and stops past `most`. What is no
 * JSON is for the parser to say.
 */
export function countValues(json: Uint8Array, most: number): number {
  let values = 1
  for (let at = 0; at < json.length && values <= most; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfString(json, at)
    else if (byte === 0x2c || byte === 0x7b || byte === 0x5b) values++
  }
  return values
}

function endOfString(json: Uint8Array, start: number): number {
  for (let end = json.indexOf(quote, start + 1); end >= 0; end = json.indexOf(quote, end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return json.length
}
