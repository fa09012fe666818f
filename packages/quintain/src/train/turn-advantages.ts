import { type AdvantageOptions, groupAdvantages } from './advantages.ts'

/**
 * Advantages of turns from process rewards: what a turn and those after it brought, less what the other members of the group
 * had from the same turn on. `steps` holds the rewards of each member's turns in order, null for a member that has none
 * (unscored). Returns are discounted by `discount` a turn: 0 looks at the turn's own reward only, 1 at all that followed.
 *
 * The comparison is by the number of the turn, not by what had happened before it, so it is a baseline that knows nothing
 * of the state; and the members that come to a late turn are a choice of them. A turn that one member alone had has 0.
 *
 * Throws `reward_invalid` for a step that is no finite number.
 */
export function turnAdvantages(
  steps: readonly (readonly number[] | null)[],
  { discount, ...options }: AdvantageOptions & { discount: number },
): number[][] {
  const returns = steps.map((own) => (own === null ? [] : returnsOf(own, discount)))
  const turns = Math.max(0, ...returns.map((own) => own.length))
  const columns = Array.from(
    { length: turns },
    (_, turn) =>
      groupAdvantages(
        returns.map((own) => own[turn] ?? null),
        options,
      ).advantages,
  )
  return returns.map((own, member) => own.map((_, turn) => columns[turn]![member]!))
}

function returnsOf(steps: readonly number[], discount: number): number[] {
  const returns = [...steps]
  for (let turn = returns.length - 2; turn >= 0; turn--) returns[turn]! += discount * returns[turn + 1]!
  return returns
}
