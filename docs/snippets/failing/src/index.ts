// An environment that goes wrong on purpose: the manual shows its report. Of twenty cities, the stations of two are
// down (a fault of the world), and the policy has nothing to say of three (the reward declines to judge silence).
import { environment, unscored } from 'quintain'

const city = (number: number) => `city-${String(number).padStart(2, '0')}`

export default environment({
  tasks: Array.from({ length: 20 }, (_, number) => ({
    id: city(number),
    prompt: 'How warm is it there, in whole degrees?',
    data: { number },
    secret: { degrees: 10 + number },
  })),
  limits: { turns: 1 },
  world: (task) => ({
    finish() {
      if (task.data.number >= 18) throw new Error(`the station of ${task.id} is down`)
      return { degrees: task.secret.degrees }
    },
  }),
  rewards: {
    close: ({ transcript, state }) =>
      transcript.answer === ''
        ? unscored('no_answer')
        : Number(Math.abs(Number(transcript.answer) - state.degrees) <= 5),
  },
  success: ({ rewards }) => rewards.close === 1,
  *oracle({ task }) {
    yield String(task.secret.degrees)
  },
  policies: {
    *guess({ task: { data } }) {
      yield data.number % 6 === 5 ? '' : '18'
    },
  },
})
