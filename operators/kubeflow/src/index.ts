/**
 * Kubeflow's jobs: PyTorchJob, TFJob, XGBoostJob and MXJob, under upstream's names, labels, variables and conditions.
 */
export {};
