import type { Action, Observation } from 'quintain'
import type { Caller } from './scenario.ts'
import { type Tell, valuesIn } from './told.ts'

/** Times that the customer asks for one thing, and messages without any progress, before giving up. */
const patience = 3
const mostMessages = 30
/** Times that the customer says again what was said before. */
const mostRepeats = 8

type Turns = Generator<Action, Action | void, Observation>

/** Asks for permission, as opposed to offering more help. */
const proposal =
  /\b(?:shall|should|may|can) I\b(?!\s+(?:help|assist|do (?:anything|something)))|\bgo ahead\b|\bproceed\b|\bdo you (?:want|agree|confirm)|\bwould you like\b|\bplease confirm\b|\bis (?:that|this) (?:ok|okay|all right|alright|right|correct|fine)\b|\bagree(?:d)?\?/i
const refusal = /\b(?:can(?:no|['’])t|can not|unable|not (?:possible|allowed|able)|sorry|unfortunately)\b/i
const outOfStock = /\bout of stock|sold out|not (?:in stock|available)|no stock|unavailable\b/i

/**
 * The customer as a script: answers what the desk asks for, reads the phone when there is reason to, agrees or not to
 * what is proposed, and asks for what there is to know before hanging up. It understands English as a form does, by words,
 * and says so when it does not know what to say.
 */
export function* customer(caller: Caller): Turns {
  const asks = [...caller.asks]
  const told = new Set<string>()
  let codeTold: string | undefined
  let complained = false
  let askedFor = 0
  // Whoever came for something that the rules forbid takes nothing else in its place once it has been refused.
  const forbidden = asks.some(({ kind }) => kind === 'rule')
  let refused = false
  let idle = 0
  let repeats = 0
  let observation = yield caller.opening

  for (let count = 0; count < mostMessages; count++) {
    const text = observation.text
    const parts: string[] = []
    const question = text.includes('?') || /\bplease\b/i.test(text)
    const proposed = proposal.test(text)
    const say = (what: string, answer: string | undefined) => {
      if (answer === undefined) return
      // A proposal repeats what was said before; then a yes is wanted and not the same answer again.
      if (told.has(what) && (proposed || !text.includes('?'))) return
      if (told.has(what)) repeats++
      told.add(what)
      parts.push(answer)
    }

    const ofVoucher = /\bvoucher\b/i.test(text) && !/\b(?:phone|verif\w*|identity|sent)\b/i.test(text)
    if (question && /\bcode\b/i.test(text) && !ofVoucher) {
      const phone = yield { tool: 'read_phone' }
      const code = [...phone.text.matchAll(/code is (\d{6})/g)].at(-1)?.[1]
      if (!caller.hasPhone) parts.push('I do not have that phone with me. Can you not do it without?')
      else if (code === undefined) parts.push('No code has come.')
      else if (code !== codeTold || /\b(?:again|wrong|not (?:right|correct))\b/i.test(text)) {
        codeTold = code
        parts.push(`The code is ${code}.`)
      }
    }
    if (/\b(?:phone|bank|payment)\b/i.test(text) && /\bconfirm|approve/i.test(text) && caller.consents) {
      const phone = yield { tool: 'read_phone' }
      if (/^Bank: /m.test(phone.text)) {
        const paid = yield { tool: 'confirm_payment' }
        parts.push(/^You have paid/.test(paid.text) ? 'I have confirmed it.' : 'It did not work.')
      }
    }
    if (question) {
      if (/\be-?mail\b/i.test(text)) say('email', `My e-mail address is ${caller.email}.`)
      if (/\bname\b/i.test(text)) say('name', `My name is ${caller.name}.`)
      if (/\border (?:number|id|no\b)|\bwhich order|\bwhat order/i.test(text))
        say('order', `It is order ${caller.order}.`)
      if (/\b(?:new|which|what|full|correct) address|address (?:should|shall|do you)|postcode/i.test(text))
        say('address', caller.address)
      if (/\b(?:unopened|opened|used|condition|original packaging)\b/i.test(text))
        say('condition', caller.condition)
      if (/\bcredit\b/i.test(text) && /\bcard\b/i.test(text)) say('refund', caller.refundTo)
      if (/\b(?:which|what) (?:variant|size|colou?r|one|version)\b|\binstead\b/i.test(text))
        say('variant', caller.variant)
      if (/\b(?:which|what) (?:item|product|article|line)\b/i.test(text)) say('item', caller.item)
      if (/\bvoucher\b/i.test(text) && /\b(?:code|which)\b/i.test(text)) say('voucher', caller.voucher)
    }
    if (outOfStock.test(text) && caller.otherwise !== undefined && !told.has('otherwise'))
      say('otherwise', caller.otherwise)
    else if (proposed && parts.length === 0) {
      if (refused) parts.push('No, thank you. Leave everything as it is.')
      else
        parts.push(
          caller.consents || valuesIn('money', text).none
            ? 'Yes, please go ahead.'
            : 'No, that is too little. Leave it as it is.',
        )
    } else if (refusal.test(text) && parts.length === 0 && caller.pushback !== undefined && !complained) {
      complained = true
      parts.push(caller.pushback)
    }
    if (forbidden && refusal.test(text) && !/\bto hear\b/i.test(text)) refused = true

    if (parts.length === 0) {
      const [next] = asks
      // An answer counts as one when it names a single thing; whether it is the right one the customer cannot know.
      if (next !== undefined && askedFor > 0 && valuesIn(next.kind, text).only !== undefined) {
        asks.shift()
        askedFor = 0
        idle = 0
      } else if (++idle > patience) break
      const now = asks[0]
      if (now === undefined) break
      parts.push(asking(now, text, askedFor))
      if (++askedFor > patience) break
    }
    if (repeats > mostRepeats) break
    observation = yield parts.join(' ')
  }
  yield { tool: 'hang_up' }
}

function asking(tell: Tell, heard: string, before: number): string {
  if (heard === '') return `Hello? ${tell.ask}`
  if (before === 0) return tell.ask
  return valuesIn(tell.kind, heard).none
    ? `Sorry, I still need to know. ${tell.ask}`
    : `You name more than one. ${tell.ask}`
}

/** What a model is told that plays the customer. */
export function customerSystem(caller: Caller): string {
  const facts = [
    `Your name is ${caller.name}, your e-mail address is ${caller.email}.`,
    `Your order: ${caller.order}.`,
    caller.item,
    caller.condition,
    caller.variant,
    caller.address,
    caller.refundTo,
    caller.voucher,
    caller.hasPhone
      ? 'Your phone is in your hand: read_phone shows codes and payments that wait, confirm_payment confirms one.'
      : 'You do not have the phone of this account.',
    caller.otherwise && `If what you want is out of stock: "${caller.otherwise}"`,
    caller.pushback && `If you are refused, say once: "${caller.pushback}"`,
    caller.consents
      ? 'You agree to whatever the desk proposes that is what you came for, and to nothing else.'
      : 'When the desk tells you how much you would get back, you find it too little and say no.',
  ].filter((fact) => fact !== undefined)
  return [
    'You are a customer in a chat with the support desk of a shop. Write as a customer would: one short message at a ' +
      'time, in your own words. Tell what you are asked for and never invent anything that is not said here. When you ' +
      'agree to something say "yes"; when you do not, say "no".',
    `You begin with: "${caller.opening}"`,
    ...facts,
    'Before you leave, ask these one after the other, and ask again until you are given one clear answer (at most ' +
      `three times each): ${caller.asks.map(({ ask }) => `"${ask}"`).join(' ')}`,
    'Then call hang_up. Never hang up before what was agreed has been done.',
  ].join('\n')
}
