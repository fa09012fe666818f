/**
 * Surroundings in which a fragment of the manual (`ts part=NAME`) is type-checked. Few: what can be shown whole is shown
 * whole, and then it is run too.
 */
export const wrappers: Record<string, (code: string) => string> = {
  /** Fields of a definition beside tasks, world and rewards. */
  fields: (code) => `${imports}
const options = z.object({ maxGuesses: z.number().int().default(6) })
export default environment({
  options,
  tasks: [{ id: 'one', prompt: '1 + 1 = ?', data: { level: 1 }, secret: { answer: '2' } }],
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
${code}})
`,
  /** The tasks of a definition. */
  tasks: (code) => `${imports}
export default environment({
${code}  rewards: { said: ({ transcript }) => Number(transcript.answer !== '') },
})
`,
  /** Rewards, metrics and success of a definition. */
  rewards: (code) => `${imports}
interface State { files: string[]; passed: number }
declare const world: () => { finish(): State }
declare function similar(a: string, b: string): number
declare function rank(answers: string[]): Promise<number[]>
export default environment({
  tasks: [{ id: 'one', prompt: '1 + 1 = ?', secret: { answer: '2', tests: 12 } }],
  world,
${code}})
`,
  /** A whole module that cannot run here, such as one that needs a package that is not installed. */
  module: (code) => code,
  /** Statements, with an environment and an agent at hand. */
  statements: (code) => `${imports}
declare const env: Environment
declare const agent: AgentFunction
export async function statements(): Promise<void> {
${code}}
`,
}

const imports = `import { type AgentFunction, chat, createRng, type Environment, environment, evaluate, FaultError, foldRun, plan, readPrivate, readTasks, readTokens, readTrajectory, readVerdict, resume, tool, toolError, toolLoop, unscored } from 'quintain'
import { z } from 'zod'
void [chat, createRng, environment, evaluate, FaultError, foldRun, plan, readPrivate, readTasks, readTokens, readTrajectory, readVerdict, resume, tool, toolError, toolLoop, unscored]
export type Used = AgentFunction | Environment
`
