/*
 * A training in a process of its own, to be killed. `node echo-main.ts new|resume DIR SETTINGS`: prints a line for each step
 * and evaluation. SETTINGS is JSON of train's options that are data.
 */
import type { StepRecord } from '../../records.ts'
import { resumeTraining } from '../resume.ts'
import { train } from '../train.ts'
import { echo, echoLearner, echoRenderer, echoTraining } from './echo.ts'

const [how = '', dir = '', settings = '{}'] = process.argv.slice(2)
const say = (text: string) => process.stdout.write(`${text}\n`)
const sitting = {
  env: echo(),
  dir,
  learner: echoLearner(),
  renderer: echoRenderer(),
  onStep: ({ step }: StepRecord) => say(`step ${step}`),
  onEvaluation: () => say('evaluation'),
}
const end =
  how === 'new'
    ? await train({ ...(await echoTraining()), ...JSON.parse(settings), ...sitting })
    : await resumeTraining(sitting)
say(`end ${end.reason}`)
