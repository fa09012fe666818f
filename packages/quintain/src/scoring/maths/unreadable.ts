/** Thrown inside the parser for what is no mathematics; never leaves it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
