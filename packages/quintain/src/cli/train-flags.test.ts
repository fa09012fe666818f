import { expect, test } from 'vitest'
import { algorithmOf, fitLengths } from './train-flags.ts'

test('lengths that nobody typed are those of the context, and a recipe stays what it is', () => {
  const of = (recipe: string, ...set: string[]) => fitLengths(algorithmOf({ recipe, set }), { set }, 64)
  expect(of('dr-grpo')).toMatchObject({ recipe: 'dr-grpo', constantLength: 64 })
  expect(of('dr-grpo', 'constantLength=25')).toMatchObject({ recipe: 'dr-grpo', constantLength: 25 })
  expect(of('dapo')).toMatchObject({ recipe: 'dapo', overlong: { length: 64, buffer: 16, penalty: 1 } })
  expect(of('dapo', 'overlong.length=40', 'overlong.buffer=8').overlong).toEqual({
    length: 40,
    buffer: 8,
    penalty: 1,
  })
  expect(of('grpo')).toEqual(algorithmOf({ recipe: 'grpo' }))
})

test('a field that is none is told with those that there are, as they are typed', () => {
  const of = (set: string) => () => algorithmOf({ recipe: 'dpo', set: [set] })
  expect(of('loss.beta=0.2')).toThrow(/no field loss\.beta\..* It has loss\.name, loss\.config\.NAME\.$/)
  expect(of('adam.beta=0.2')).toThrow(/did you mean "beta\d"\? It has adam\.learningRate, /)
  expect(of('lose.name=dpo')).toThrow(/did you mean "loss"\? It has groups, .*advantage\.FIELD/)
  expect(of('loss.config.beta=0.2')()).toMatchObject({ loss: { name: 'dpo', config: { beta: 0.2 } } })
})
