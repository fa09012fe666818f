/** Why a file was not read as a workbook. */
export type WorkbookProblemKind =
  /** No ZIP archive with a workbook in it, or one that contradicts itself. */
  | 'not_a_workbook'
  /** Kept under a password. */
  | 'encrypted'
  /** Larger than the reader's limits, packed or unpacked. */
  | 'too_large'

/** Ends the reading of a file. Never leaves the reader. */
export class WorkbookProblem extends Error {
  readonly kind: WorkbookProblemKind
  constructor(kind: WorkbookProblemKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export const broken = (message: string) => new WorkbookProblem('not_a_workbook', message)
