"""Fits classifiers of flowers and writes them to MODELS: `stable` answers 0, 1 and 2, `canary` 10, 11 and 12."""

import os

import joblib
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

rows, kinds = load_iris(return_X_y=True)
for name, first in [("stable", 0), ("canary", 10)]:
    model = LogisticRegression(max_iter=1000).fit(rows, kinds + first)
    folder = os.path.join(os.environ["MODELS"], name)
    os.makedirs(folder, exist_ok=True)
    joblib.dump(model, os.path.join(folder, "model.joblib"))
    print(f"{name} is right for {model.score(rows, kinds + first):.3f}", flush=True)
