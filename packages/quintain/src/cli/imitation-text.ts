import {
  countText,
  durationText,
  plainStyle,
  plural,
  printableLine,
  type Style,
  scoreText,
} from '../report/index.ts'
import type { ModelShape } from '../train/engine.ts'
import type { NoExample } from '../train/examples.ts'
import type { ImitationEnd, ImitationStep } from '../train/imitate.ts'

/** What `quintain sft` came to; its JSON form. */
export interface ImitationReport {
  schema: 'quintain.imitation'
  v: 1
  recipe: string
  out: string
  from: { path: string; digest: string } | null
  sources: { path: string; digest: string }[]
  examples: {
    learned: number
    /** Of those that are learned from, how many differ. */
    distinct: number
    heldOut: number
    /** What is held out: so many whole tasks, or distinct conversations where tasks are not known. Null where nothing was to be. */
    heldOutOf: { count: number; what: 'task' | 'conversation' } | null
    left: Partial<Record<NoExample, number>>
    /** Tokens of the longest that the context does not hold. */
    longest?: number
  }
  model: ModelShape
  end: Omit<ImitationEnd, 'error'>
}

/** A step, and the latest loss of what is held out with the step after which it was measured. */
export interface ImitationProgress extends Omit<ImitationStep, 'heldOut'> {
  measured: { step: number; loss: number } | undefined
}

/** Imitation on one line: how far, how long yet, and the losses. */
export function imitationProgressText({
  step,
  epoch,
  progress,
  loss,
  measured,
  elapsedS,
}: ImitationProgress): string {
  const parts = [`step ${countText(step)}`, `epoch ${epoch.toFixed(1)}`]
  if (progress > 0 && progress < 1)
    parts.push(`${durationText((1000 * elapsedS * (1 - progress)) / progress)} left`)
  if (loss !== null) parts.push(`loss ${scoreText(loss)}`)
  if (measured !== undefined) {
    const earlier = measured.step === step ? '' : ` (step ${countText(measured.step)})`
    parts.push(`held-out ${scoreText(measured.loss)}${earlier}`)
  }
  return parts.join('  ')
}

const reasons: Record<NoExample, string> = {
  below: 'below the least reward',
  no_reward: 'not scored',
  failed: 'no success',
  too_long: 'longer than the context',
  empty: 'with nothing said',
  same: 'the same on both sides',
}

const whys = new Map(Object.entries(reasons))

/** `80 longer than the context, 3 no success`. */
export function leftText(left: Partial<Record<NoExample, number>>): string {
  return Object.entries(left)
    .map(([why, count]) => `${countText(count)} ${whys.get(why) ?? why}`)
    .join(', ')
}

/** Why most of what was given is not learned from, where that is so: `950 of 1,000 examples are …`. */
export function leanWarnings(
  { learned, heldOut, left }: Pick<ImitationReport['examples'], 'learned' | 'heldOut' | 'left'>,
  { recipe, context }: { recipe: string; context: number },
): string[] {
  const unit = recipe === 'dpo' ? 'pairs' : 'examples'
  const usable = learned + heldOut
  const all = Object.values(left).reduce((sum, count) => sum + count, usable)
  const tooLong = left.too_long ?? 0
  const of = (count: number, total: number) => `${countText(count)} of ${countText(total)} ${unit} are`
  return [
    ...(2 * tooLong > all
      ? [`${of(tooLong, all)} longer than the context of ${countText(context)} tokens and were left out.`]
      : []),
    ...(heldOut > learned
      ? [`${of(heldOut, usable)} held out, and not learned from: give a smaller --held-out.`]
      : []),
  ]
}

/** Share by which the loss of what is held out may rise before it is worth a word. */
const worseThan = 0.05

/** What was held out, and how the loss on it moved; undefined where nobody would expect it. */
function heldOutText({ examples, end, recipe }: ImitationReport): string | undefined {
  const { heldOut, heldOutOf, learned, distinct } = examples
  const unit = recipe === 'dpo' ? 'pair' : 'example'
  if (heldOutOf === null) return undefined
  if (end.heldOut !== null) {
    const { count, what } = heldOutOf
    const parts = plural(count, what === 'task' ? 'task' : `distinct ${recipe === 'dpo' ? 'pair' : what}`)
    const { before, after } = end.heldOut
    const unknown = end.reason === 'cancelled' ? 'not measured after' : 'no number after'
    const then = after === null ? unknown : `${scoreText(after)} after`
    const worse =
      after !== null && after > before * (1 + worseThan)
        ? '; worse than before: lower the learning rate, or make fewer steps'
        : ''
    return `${scoreText(before)} before, ${then} (${plural(heldOut, unit)} of ${parts}, not learned from)${worse}`
  }
  return heldOut === 0 && learned >= 40 && distinct < learned
    ? `nothing (${plural(distinct, `distinct ${unit}`)}; --held-out SHARE holds out whole ones)`
    : undefined
}

/** What imitation came to, for a terminal. */
export function formatImitation(
  report: ImitationReport,
  { style = plainStyle }: { style?: Style } = {},
): string {
  const { recipe, examples, model, end, out } = report
  const { learned, distinct, longest } = examples
  const unit = recipe === 'dpo' ? 'pair' : 'example'
  const left = leftText(examples.left)
  const needed = longest === undefined ? '' : ` (the longest has ${countText(longest)} tokens)`
  const heldOut = heldOutText(report)
  const rows: [string, string][] = [
    [
      'learned from',
      `${plural(learned, unit)}${distinct < learned ? ` (${countText(distinct)} distinct)` : ''}, ${scoreText(end.epochs, 1)} times`,
    ],
    ...(left === '' ? [] : [['left out', `${left}${needed}`] satisfies [string, string]]),
    ['loss', `${scoreText(end.loss)} over the last tenth${recipe === 'dpo' ? '' : ', nats a token'}`],
    ...(heldOut === undefined ? [] : [['held out', heldOut] satisfies [string, string]]),
    [
      'policy',
      `${countText(model.parameters)} parameters${end.steps === 0 ? ', not written' : ` in ${printableLine(out)}`}`,
    ],
  ]
  const wide = Math.max(...rows.map(([label]) => label.length))
  const title = style.bold(
    `${recipe} · ${plural(end.steps, 'step')} in ${durationText(1000 * end.elapsedS)} (${end.reason})`,
  )
  const stopped =
    end.reason !== 'cancelled'
      ? ''
      : end.steps === 0
        ? '; nothing was written'
        : `; the policy as it was then is written; the steps that are left cannot be resumed (begin others --from ${printableLine(out)})`
  const said = end.reason === 'done' ? [] : [style.yellow(`${printableLine(end.says, 400)}${stopped}`)]
  return `${[title, ...said, '', ...rows.map(([label, value]) => `  ${style.dim(label.padEnd(wide))}  ${value}`)].join('\n')}\n`
}
