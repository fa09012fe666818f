import { chatRenderer } from '../../chat-renderer.ts'
import { specialId } from '../../vocabulary.ts'

/** The renderer of a policy that writes bytes. */
export const renderer = chatRenderer({ vocabulary: 'bytes' })
export const [user, assistant, end] = (['<user>', '<assistant>', '<end>'] as const).map(specialId) as [
  number,
  number,
  number,
]

/** The ids of a text. */
export const ids = (text: string): number[] => [...renderer.encode(text)]

/** A text as the ids of a reply that ends by itself. */
export const reply = (text: string): number[] => [...ids(text), end]
