"""What SciPy, statsmodels or a plain formula says of the inputs that `validate.ts` sends: JSON in, JSON out."""

import json
import math
import sys
import warnings
from fractions import Fraction

import numpy as np
import scipy.stats as st
from scipy import integrate, optimize, special
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

warnings.simplefilter("ignore")
functions = {}


def reference(function):
    functions[function.__name__] = function
    return function


# Distributions

@reference
def normal_cdf(x):
    return float(st.norm.cdf(x))


@reference
def normal_quantile(p):
    return float(st.norm.ppf(p))


@reference
def t_cdf(t, df):
    return float(st.t.cdf(t, df))


@reference
def t_quantile(p, df):
    return float(st.t.ppf(p, df))


@reference
def beta_cdf(x, a, b):
    return float(special.betainc(a, b, x))


@reference
def beta_quantile(p, a, b):
    return float(special.betaincinv(a, b, p))


@reference
def noncentral_t_cdf(t, df, ncp):
    found = float(st.nct.cdf(t, df, ncp))
    if not math.isnan(found):
        return found
    # SciPy has no value in places; then the definition: a normal over the root of a chi-squared.
    below = lambda v: st.norm.cdf(t * math.sqrt(v / df) - ncp) * st.chi2.pdf(v, df)
    low, high = st.chi2.ppf([1e-15, 1 - 1e-15], df)
    return float(integrate.quad(below, low, high, epsabs=1e-12, limit=500)[0])


@reference
def quantile(values, q):
    return float(np.quantile(values, q))


# One set of scores

@reference
def mean(values):
    return math.fsum(values) / len(values)


@reference
def standard_error(values):
    low, high = st.t.interval(0.95, len(values) - 1, np.mean(values), st.sem(values))
    return [float(st.sem(values)), float(low), float(high)]


def clustered(groups, correct, level):
    scores = np.concatenate([np.asarray(group, float) for group in groups])
    labels = np.concatenate([[i] * len(group) for i, group in enumerate(groups)])
    fit = OLS(scores, np.ones(len(scores))).fit(
        cov_type="cluster", cov_kwds={"groups": labels, "use_correction": correct, "df_correction": True}, use_t=True
    )
    low, high = fit.conf_int(alpha=1 - level)[0]
    return [float(fit.params[0]), float(fit.bse[0]), float(low), float(high)]


@reference
def clustered_mean(groups, correct, level):
    return clustered(groups, correct, level)


@reference
def wilson(k, n, level):
    return [float(bound) for bound in proportion_confint(k, n, 1 - level, method="wilson")]


@reference
def clopper_pearson(k, n, level):
    return [float(bound) for bound in proportion_confint(k, n, 1 - level, method="beta")]


@reference
def clustered_proportion(groups):
    p, se, _, _ = clustered(groups, True, 0.95)
    n = sum(len(group) for group in groups)
    effective = min(n, p * (1 - p) / se**2)
    t = st.t.ppf(0.975, len(groups) - 1)
    centre = (p + t * t / (2 * effective)) / (1 + t * t / effective)
    half = t * math.sqrt(p * (1 - p) / effective + t * t / (4 * effective**2)) / (1 + t * t / effective)
    return [max(0, centre - half), min(1, centre + half)]


@reference
def repeat_mean(groups):
    n = sum(len(group) for group in groups)
    centre = sum(map(sum, groups)) / n
    se = math.sqrt(sum(len(group) * np.var(group, ddof=1) for group in groups)) / n
    freedom = n - len(groups)
    half = se * (st.t.ppf(0.975, freedom) if freedom < 200 else st.norm.ppf(0.975))
    return [float(se), float(centre - half), float(centre + half)]


@reference
def variance_split(groups):
    means = [np.mean(group) for group in groups]
    variances = [np.var(group, ddof=1) if len(group) > 1 else None for group in groups]
    within = float(np.mean([variance for variance in variances if variance is not None]))
    noise = np.mean([(within if v is None else v) / len(g) for v, g in zip(variances, groups)])
    return [float(max(0, np.var(means, ddof=1) - noise)), within]


@reference
def pass_at_k(n, c, k):
    return float(1 - Fraction(math.comb(n - c, k), math.comb(n, k)))


@reference
def pass_hat_k(n, c, k):
    return float(Fraction(math.comb(c, k), math.comb(n, k)))


# Bootstrap

@reference
def bootstrap_of_draws(groups, draws, level):
    """Percentile and BCa bounds from draws that were made elsewhere, after Efron (1987)."""
    sums, sizes = np.array([sum(g) for g in groups]), np.array([len(g) for g in groups])
    centre = sums.sum() / sizes.sum()
    draws = np.array(draws)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    close = np.isclose(draws, centre, rtol=0, atol=1e-12)
    bias = st.norm.ppf((np.sum((draws < centre) & ~close) + 0.5 * close.sum()) / len(draws))
    left = np.array([np.delete(sums, i).sum() / np.delete(sizes, i).sum() for i in range(len(groups))])
    spread = left.mean() - left
    a = (spread**3).sum() / (6 * (spread**2).sum() ** 1.5)
    z = bias + st.norm.ppf(tails)
    bca = st.norm.cdf(bias + z / (1 - a * z))
    return [*map(float, np.quantile(draws, tails)), *map(float, np.quantile(draws, bca))]


@reference
def bootstrap(values, method, seed):
    found = st.bootstrap(
        (np.array(values),), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(seed)
    )
    return [float(found.confidence_interval.low), float(found.confidence_interval.high)]


# Two sets of scores

@reference
def paired_t(a, b):
    found = st.ttest_rel(a, b)
    low, high = found.confidence_interval(0.95)
    return [float(np.mean(np.subtract(a, b))), float(low), float(high)]


@reference
def paired_clustered(groups):
    return clustered(groups, True, 0.95)


@reference
def bonett_price(b, c, n):
    p12, p21 = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = st.norm.ppf(0.975) * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    return [max(-1, p12 - p21 - half), min(1, p12 - p21 + half)]


@reference
def welch(a, b):
    low, high = st.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return [float(low), float(high)]


@reference
def paired_again(a, b):
    parts = [(np.var(side, ddof=1) / len(side), len(side) - 1) for pair in zip(a, b) for side in pair]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / df for part, df in parts)
    centre = np.mean([np.mean(x) - np.mean(y) for x, y in zip(a, b)])
    half = st.t.ppf(0.975, freedom) * math.sqrt(variance) / len(a)
    return [float(centre - half), float(centre + half)]


@reference
def sign_flips(values):
    found = st.permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    return float(found.pvalue)


@reference
def sign_flips_counted(steps):
    """The same for whole numbers, with every pattern counted in whole numbers."""
    sizes = [abs(step) for step in steps]
    total = sum(sizes)
    ways = [1] + [0] * total
    for size in sizes:
        for s in range(total, size - 1, -1):
            ways[s] += ways[s - size]
    seen = abs(sum(steps))
    extreme = sum(count for s, count in enumerate(ways) if abs(2 * s - total) >= seen)
    return float(Fraction(extreme, 2 ** len(sizes)))


@reference
def sign_flips_sampled(values, seed):
    found = st.permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", n_resamples=100_000, vectorized=True,
        batch=10_000, rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


@reference
def bounded_mean(steps, mean):
    weights = [step - mean for step in steps] + [1000 - mean]
    weights = [weight for weight in weights if weight != 0]
    chance = Fraction(0)
    for j, weight in enumerate(weights):
        if weight > 0:
            part = Fraction(1)
            for k, other in enumerate(weights):
                if k != j:
                    part *= Fraction(weight, weight - other)
            chance += part
    return float(chance)


@reference
def mcnemar_exact(b, c):
    p = float(mcnemar([[0, b], [c, 0]], exact=True).pvalue)
    mid = 1.0 if b == c else p - float(st.binom.pmf(b, b + c, 0.5))
    return [p, mid]


@reference
def holm(values):
    return [float(p) for p in multipletests(values, method="holm")[1]]


@reference
def benjamini_hochberg(values):
    return [float(p) for p in multipletests(values, method="fdr_bh")[1]]


# Power

@reference
def power(effect, tasks, alpha):
    # Two-sided, but finding the wrong sign is no success: the upper tail at half the level.
    return float(TTestPower().power(effect, tasks, alpha / 2, alternative="larger"))


@reference
def required(effect, alpha, power):
    return math.ceil(TTestPower().solve_power(effect_size=effect, alpha=alpha / 2, power=power, alternative="larger"))


def exact_mcnemar_power(difference, tasks, discordant, alpha):
    wins = (discordant + difference) / (2 * discordant)
    total = 0.0
    for m in range(1, tasks + 1):
        losses = np.arange(m // 2 + 1)
        rejected = losses[2 * st.binom.cdf(losses, m, 0.5) <= alpha * (1 + 1e-12)]
        if len(rejected):
            total += st.binom.pmf(m, tasks, discordant) * st.binom.cdf(rejected[-1], m, 1 - wins)
    return float(total)


@reference
def mcnemar_power(difference, tasks, discordant, alpha):
    return exact_mcnemar_power(difference, tasks, discordant, alpha)


@reference
def mcnemar_required(difference, discordant):
    za, zb = st.norm.ppf([0.975, 0.8])
    root = za * math.sqrt(discordant) + zb * math.sqrt(discordant - difference**2)
    tasks = formula = math.ceil((root / difference) ** 2)
    while exact_mcnemar_power(difference, tasks, discordant, 0.05) < 0.8:
        tasks += 1
    return [formula, tasks]


# Sequential

STAKES = 0.95 * 2 ** (-np.arange(16) / 2.5)


def log_capital(x, against):
    """log of the capital of bets that the mean of x in [0, 1] is larger than `against`."""
    logs = np.log1p(np.outer(STAKES, np.asarray(x) / against - 1)).sum(axis=1)
    return float(special.logsumexp(logs) - np.log(len(STAKES)))


@reference
def sequential(differences, level):
    x = (np.array(differences) + 1) / 2
    best = 0.0
    for n in range(1, len(x) + 1):
        up, down = log_capital(x[:n], 0.5), log_capital(1 - x[:n], 0.5)
        best = max(best, max(up, down) - math.log(2))
    limit = math.log(2 / (1 - level))

    def bound(side):
        if side.max() == 0:
            return 0.0
        return optimize.brentq(lambda m: log_capital(side, m) - limit, 1e-9, 1 - 1e-12, xtol=1e-13)

    return [math.exp(-best), 2 * bound(x) - 1, 1 - 2 * bound(1 - x)]


@reference
def discordant_e(wins, losses):
    log = special.betaln(wins + 0.5, losses + 0.5) - special.betaln(0.5, 0.5) + (wins + losses) * math.log(2)
    return math.exp(log)


@reference
def crossing(bounds, fractions):
    """Chance that correlated normal deviates cross symmetric bounds: what O'Brien-Fleming boundaries promise."""
    t = np.array(fractions)
    covariance = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    z = np.array(bounds)
    inside = st.multivariate_normal.cdf(
        z, np.zeros(len(z)), covariance, lower_limit=-z, abseps=1e-7, releps=1e-7, maxpts=4_000_000,
        rng=np.random.default_rng(1),
    )
    return float(1 - inside)


# Missing results

@reference
def mean_bounds(groups, low, high):
    filled = [[[end if s is None else s for s in g] for g in groups] for end in (low, high)]
    worst, best = (clustered(side, True, 0.95) for side in filled)
    return [worst[0], best[0], max(low, worst[2]), min(high, best[3])]


@reference
def paired_bounds(a, b, low, high):
    def side(scores, end):
        return np.array([np.mean([end if s is None else s for s in task]) for task in scores])

    worst, best = side(a, low) - side(b, high), side(a, high) - side(b, low)
    return [float(worst.mean()), float(best.mean())]


requests = json.load(sys.stdin)
answers = [functions[name](**arguments) for name, arguments in requests]
versions = {name: __import__(name).__version__ for name in ("numpy", "scipy", "statsmodels")}
json.dump({"answers": answers, "versions": versions}, sys.stdout, allow_nan=False)
