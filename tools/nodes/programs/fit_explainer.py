"""Fits Alibi's explainer of a classifier of flowers and writes it to MODELS."""

import os

from alibi.explainers import AnchorTabular
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

flowers = load_iris()
model = LogisticRegression(max_iter=1000).fit(flowers.data, flowers.target)
explainer = AnchorTabular(model.predict, flowers.feature_names, seed=1)
explainer.fit(flowers.data, disc_perc=(25, 50, 75))
explainer.save(os.path.join(os.environ["MODELS"], "explainer"))
print("fitted", flush=True)
