/** Tasks of each that are played; those of `terminal` run in boxes, which take their time. */
export const environments: Readonly<Record<string, number>> = {
  wordle: 10,
  gsm8k: 10,
  orders: 10,
  terminal: 5,
}
