"""What the Python packages say of the pairs of texts that `validate.ts` sends: JSON in, JSON out."""

import json
import math
import re
import sys
import warnings
from collections import Counter

import importlib.metadata
import nltk.translate.bleu_score as bleu_score
import nltk.translate.gleu_score as gleu_score
import nltk.translate.meteor_score as meteor_score
from nltk.stem.porter import PorterStemmer
from rapidfuzz import distance, fuzz
from rouge import Rouge

warnings.simplefilter("ignore")
# The package recurses once a word.
sys.setrecursionlimit(100_000)


class NoSynonyms:
    """Stands for WordNet and knows no word."""

    def synsets(self, word):
        return []


def rouge(metric):
    def score(a, b):
        try:
            return Rouge(metrics=[metric]).get_scores(a, b)[0][metric]["f"]
        except ValueError:
            # No sentence in a text: the package raises, we say 0.
            return 0.0

    return score


def cosine_tfidf(a, b):
    counts = [Counter(re.findall(r"\w+", text.lower())) for text in (a, b)]
    words = set(counts[0]) | set(counts[1])
    vectors = [
        [c[w] * (math.log(3 / (1 + sum(w in other for other in counts))) + 1) for w in words] for c in counts
    ]
    norms = [math.sqrt(sum(x * x for x in v)) for v in vectors]
    if 0 in norms:
        return 0.0
    return sum(x * y for x, y in zip(*vectors)) / norms[0] / norms[1]


def word_sets(measure):
    def score(a, b):
        x, y = set(a.split()), set(b.split())
        return measure(len(x & y), len(x), len(y)) if x or y else 0.0

    return score


functions = {
    "fuzzy_match": lambda a, b: fuzz.ratio(a, b) / 100,
    "partial_ratio": lambda a, b: fuzz.partial_ratio(a, b) / 100,
    "token_sort_ratio": lambda a, b: fuzz.token_sort_ratio(a, b) / 100,
    "token_set_ratio": lambda a, b: fuzz.token_set_ratio(a, b) / 100,
    "weighted_ratio": lambda a, b: fuzz.WRatio(a, b) / 100,
    "levenshtein": distance.Levenshtein.normalized_similarity,
    "jaro": distance.Jaro.similarity,
    "jaro_winkler": distance.JaroWinkler.similarity,
    "jaccard": word_sets(lambda shared, x, y: shared / (x + y - shared)),
    "dice": word_sets(lambda shared, x, y: 2 * shared / (x + y)),
    "bleu": lambda a, b: bleu_score.sentence_bleu([b.split()], a.split(), auto_reweigh=True),
    "gleu": lambda a, b: gleu_score.sentence_gleu([b.split()], a.split()),
    "meteor": lambda a, b: meteor_score.single_meteor_score(b.split(), a.split(), wordnet=NoSynonyms()),
    "cosine_tfidf": cosine_tfidf,
    **{f"rouge_{n}": rouge(f"rouge-{n}") for n in (1, 2, 3, 4, 5, "l")},
}

request = json.load(sys.stdin)
stemmer = PorterStemmer()
scores = {name: [float(functions[name](a, b)) for a, b in pairs] for name, pairs in request["pairs"].items()}
versions = {name: importlib.metadata.version(name) for name in ("rapidfuzz", "nltk", "rouge")}
json.dump(
    {"scores": scores, "stems": [stemmer.stem(word) for word in request["words"]], "versions": versions},
    sys.stdout,
)
