# SPDX-License-Identifier: MIT
"""How well a perfect prediction would agree with noisy measurements.

Two halves of the runs agree less than the truth agrees with all runs, because both
halves are noisy, and each has fewer runs: the correction for attenuation (Spearman,
American Journal of Psychology 15, 1904). There is no closed formula for Kendall's tau,
so it is simulated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import scipy

DRAWS = 400


def ceiling_of(runs: Sequence[Sequence[float]]) -> float | None:
    """Return the expected Kendall's tau of the truth with the means of these runs.

    Each element has the positive results of one subject. The truth is assumed to be
    the means of their logarithms, moved towards the common mean until their variance is
    what the noise leaves of it; the noise is taken as equal for all subjects. Returns 0
    if it leaves nothing, and None without repeated runs.
    """
    logs = [numpy.log(numpy.asarray(values, dtype=float)) for values in runs]
    repeated = [values for values in logs if len(values) > 1]
    if len(logs) < 2 or not repeated:
        return None
    means = numpy.array([values.mean() for values in logs])
    counts = numpy.array([len(values) for values in logs])
    noise = numpy.concatenate(
        [(v - v.mean()) * (len(v) / (len(v) - 1)) ** 0.5 for v in repeated]
    )
    within = numpy.mean([values.var(ddof=1) for values in repeated])
    total = means.var(ddof=1)
    left = total - numpy.mean(within / counts)
    if left <= 0:
        return 0.0
    truth = means.mean() + (left / total) ** 0.5 * (means - means.mean())
    generator = numpy.random.default_rng(1)
    taus = [
        scipy.stats.kendalltau(
            truth,
            [
                numpy.exp(true + generator.choice(noise, count)).mean()
                for true, count in zip(truth, counts, strict=True)
            ],
        ).statistic
        for _ in range(DRAWS)
    ]
    return float(numpy.mean(taus))
