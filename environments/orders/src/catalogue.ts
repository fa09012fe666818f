import type { Product } from './rows.ts'

type Stocked = Omit<Product, 'stock'>

const product = (
  sku: string,
  name: string,
  variant: string,
  price: number,
  final_sale: 0 | 1 = 0,
): Stocked => ({
  sku,
  name,
  variant,
  price,
  final_sale,
})

/** What the shop sells. */
export const catalogue: readonly Stocked[] = [
  product('LAMP-BLK', 'Heron desk lamp', 'black', 79_20),
  product('LAMP-BRS', 'Heron desk lamp', 'brass', 89_60),
  product('MUGS-4', 'Tern mugs', 'set of 4', 24_80),
  product('MUGS-6', 'Tern mugs', 'set of 6', 34_40),
  product('KETL-STL', 'Finch kettle', 'steel', 58_40),
  product('KETL-COP', 'Finch kettle', 'copper', 71_20),
  product('PAN-24', 'Cove pan', '24 cm', 62_00),
  product('PAN-28', 'Cove pan', '28 cm', 74_80),
  product('THRW-S', 'Moor throw', 'small', 46_00),
  product('THRW-L', 'Moor throw', 'large', 63_60),
  product('CLCK-WHT', 'Quarter clock', 'white', 39_20, 1),
  product('VASE-GRN', 'Fen vase', 'green', 27_60, 1),
  product('CHR-OAK', 'Alder chair', 'oak', 219_00),
  product('CHR-WAL', 'Alder chair', 'walnut', 259_40),
  product('RUG-S', 'Dune rug', 'small', 236_00),
  product('RUG-L', 'Dune rug', 'large', 318_80),
]

/** Throws for what the shop does not sell: a slip in a task must not make a task of its own. */
export function productOf(sku: string): Stocked {
  const found = catalogue.find((item) => item.sku === sku)
  if (found === undefined) throw new Error(`the catalogue has no ${sku}`)
  return found
}

/** The other variant of a product. */
export function otherVariant(sku: string): Stocked {
  const { name } = productOf(sku)
  return catalogue.find((item) => item.name === name && item.sku !== sku) ?? productOf(sku)
}
