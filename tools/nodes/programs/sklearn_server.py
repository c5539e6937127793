"""A model of scikit-learn for Seldon's wrapper: what upstream's server for scikit-learn does, as far as predictions go."""

import os

import joblib


class SKLearnServer:
    def __init__(self, model_uri, method="predict_proba"):
        self.folder, self.method = model_uri, method

    def load(self):
        self.model = joblib.load(os.path.join(self.folder, "model.joblib"))

    def predict(self, rows, names, meta=None):
        return getattr(self.model, self.method)(rows)
