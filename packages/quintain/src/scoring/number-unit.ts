/** Spellings of units that answers carry, by the name under which they are compared. */
const spellings: Record<string, string> = {
  $: '$ us$ usd dollar dollars bucks',
  '€': '€ eur euro euros',
  '£': '£ gbp',
  '¥': '¥ jpy yen',
  '₹': '₹ inr rupee rupees rs',
  '¢': '¢ cent cents',
  mm: 'mm millimeter millimeters millimetre millimetres',
  cm: 'cm centimeter centimeters centimetre centimetres',
  m: 'm meter meters metre metres',
  km: 'km kilometer kilometers kilometre kilometres',
  inch: 'inch inches in',
  ft: 'ft foot feet',
  yd: 'yd yard yards',
  mile: 'mi mile miles',
  mg: 'mg milligram milligrams',
  g: 'g gram grams',
  kg: 'kg kilogram kilograms',
  lb: 'lb lbs',
  oz: 'oz ounce ounces',
  ml: 'ml milliliter milliliters millilitre millilitres',
  l: 'l liter liters litre litres',
  gallon: 'gal gallon gallons',
  second: 'sec secs second seconds',
  minute: 'min mins minute minutes',
  hour: 'h hr hrs hour hours',
  day: 'day days',
  week: 'week weeks',
  month: 'month months',
  year: 'yr yrs year years',
  degree: '° degree degrees',
  mph: 'mph',
  am: 'am',
  pm: 'pm',
}

const names = new Map(
  Object.entries(spellings).flatMap(([name, all]) => all.split(' ').map((spelling) => [spelling, name])),
)
/** `m`, `in` and their like stick to the digits or stand alone; a word that follows a number in prose may be anything. */
const inProse = new Set(
  [...names.keys()].filter(
    (spelling) => !['in', 'am'].includes(spelling) && (spelling.length > 1 || /[^a-z]/.test(spelling)),
  ),
)

/** The name under which a unit is compared; undefined for one that is not known. */
export function canonicalUnit(text: string): string | undefined {
  return names.get(text.trim().toLowerCase().replace(/\.$/, ''))
}

/** A currency that a text ends with, such as `US$` or `€ `: it belongs to the number that follows. */
export function currencyBefore(text: string): { name: string; length: number } | undefined {
  const found = /(?:US\$|\\?\$|[€£¥₹]|(?<!\p{L})(?:USD|EUR|GBP|INR|Rs\.?))[ \t]?$/u.exec(text)?.[0]
  if (found === undefined) return undefined
  const name = canonicalUnit(found.replace('\\', ''))
  return name === undefined ? undefined : { name, length: found.length }
}

const raised = /^(?:\^[ \t]?\{?[ \t]?([23])(?!\d)\}?|([²³]))/

/** A known unit at the start of what follows a number, squared or cubed or not. `attached`: no space between them. */
export function leadingUnit(text: string): { name: string; length: number; attached: boolean } | undefined {
  const found = /^([ \t\u00a0\u202f]?)([€£¥₹¢°]|\p{L}{1,12})(?![\p{L}\p{N}])/u.exec(text)
  if (found === null) return undefined
  const [whole, space = '', word = ''] = found
  const spelling = word.toLowerCase()
  const name = names.get(spelling)
  if (name === undefined) return undefined
  const power = raised.exec(text.slice(whole.length))
  if (power !== null) {
    const exponent = power[1] ?? (power[2] === '²' ? '2' : '3')
    return { name: `${name}^${exponent}`, length: whole.length + power[0].length, attached: space === '' }
  }
  const alone = /^[.,;!]?\s*(?:\n|$)/.test(text.slice(whole.length))
  if (space !== '' && !inProse.has(spelling) && !alone) return undefined
  return { name, length: whole.length, attached: space === '' }
}
