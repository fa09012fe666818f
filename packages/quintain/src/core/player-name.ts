/** Words for a harness that nobody has named: the one that Quintain chooses, and that of an imported file. */
const unnamed = ['auto', 'imported']

/**
 * Who plays a seat, in a few words: the policy, or an agent of the user's with what answers its model calls
 * (`gpt-4.1-mini in command:agent@1`). Two agents with one model are told apart by it.
 */
export function playerName({ policy, harness }: { policy: string; harness: string }): string {
  if (unnamed.includes(harness)) return policy
  return policy.startsWith('agent:') ? harness : `${policy} in ${harness}`
}
