import type { SimilarityMetric } from '../../scoring/index.ts'

/** A metric by the Python package that it is measured with, as docs/text-similarity.md says; and the package with its pin. */
export interface PythonMetric {
  code: string
  requirement: string
}

const rapidfuzz = 'rapidfuzz==3.10.1'
const nltk = 'nltk==3.9.1'
const rouge = 'rouge==1.0.1'

/** Python that gives a metric of two texts that are not empty; undefined for `cosine`, which asks for embeddings. */
export function pythonMetric(metric: SimilarityMetric): PythonMetric | undefined {
  switch (metric) {
    case 'cosine':
      return undefined
    case 'fuzzy_match':
      return { requirement: rapidfuzz, code: fuzzy }
    case 'bleu':
      return { requirement: nltk, code: bleu }
    case 'gleu':
      return { requirement: nltk, code: gleu }
    case 'meteor':
      return { requirement: nltk, code: meteor }
    default:
      return { requirement: rouge, code: rougeOf(metric.slice('rouge_'.length)) }
  }
}

const fuzzy = `
def _fuzzy_match(text, reference):
    from rapidfuzz import fuzz
    return fuzz.ratio(text, reference) / 100
`

const bleu = `
def _bleu(text, reference):
    import warnings
    from nltk.translate.bleu_score import sentence_bleu
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sentence_bleu([reference.split()], text.split(), auto_reweigh=True)
`

const gleu = `
def _gleu(text, reference):
    from nltk.translate.gleu_score import sentence_gleu
    return sentence_gleu([reference.split()], text.split())
`

const meteor = `
class _NoSynonyms:
    def synsets(self, word):
        return []


def _meteor(text, reference):
    from nltk.translate.meteor_score import single_meteor_score
    return single_meteor_score(reference.split(), text.split(), wordnet=_NoSynonyms())
`

function rougeOf(which: string): string {
  return `
def _rouge_${which}(text, reference):
    from rouge import Rouge
    try:
        return Rouge(metrics=["rouge-${which}"]).get_scores(text, reference)[0]["rouge-${which}"]["f"]
    except ValueError:
        return 0.0
`
}
