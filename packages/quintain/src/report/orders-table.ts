import type { Folded, OrderState } from '../core/index.ts'
import { durationText, plural, scoreText } from './number-text.ts'
import { printableLine } from './printable.ts'
import { plainStyle, type Style } from './style.ts'
import { formatTable } from './table.ts'

/** What an order's line needs of its attempt. */
export interface OrderLine extends Folded {
  /** 0 where no time was recorded, as of imported runs. */
  wallMs: number
}

/** One line per order: how it ended and what it scored. The first `most` of them. */
export function formatOrders(
  states: readonly OrderState<OrderLine>[],
  { most = 40, style = plainStyle }: { most?: number; style?: Style } = {},
): string {
  const rows = states
    .slice(0, most)
    .map(({ order, status, chosen }) => [
      printableLine(order.id, 60),
      status,
      scoreText(chosen?.verdict?.reward ?? null),
      chosen?.verdict?.success == null ? '' : chosen.verdict.success ? 'yes' : 'no',
      printableLine(
        chosen?.fault ? `${chosen.fault.owner}: ${chosen.fault.code}` : (chosen?.outcome ?? ''),
        40,
      ),
      chosen === undefined ? '' : chosen.wallMs === 0 ? '–' : durationText(chosen.wallMs),
    ])
  const table = formatTable(['order', 'status', 'reward', 'success', 'ended', 'took'], rows, style)
  const rest = states.length - rows.length
  return rest > 0 ? `${table}… and ${plural(rest, 'more order')}\n` : table
}
