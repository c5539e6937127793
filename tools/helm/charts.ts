/** Public charts that are compared: Go modules whose folders have charts. Nothing of them is in this repository but names and versions. */

/** A Go module, and the folders of charts in it; `*` stands for each folder. */
export interface ChartModule {
  readonly module: string;
  readonly version: string;
  readonly charts: readonly string[];
}

export const CHART_MODULES: readonly ChartModule[] = [
  {
    module: "github.com/operator-framework/operator-sdk",
    version: "v1.42.2",
    charts: ["testdata/helm/*/helm-charts/*"],
  },
  { module: "github.com/cert-manager/cert-manager", version: "v1.21.2", charts: ["deploy/charts/*"] },
  { module: "github.com/cilium/cilium", version: "v1.20.2", charts: ["install/kubernetes/*"] },
  { module: "github.com/external-secrets/external-secrets", version: "v1.3.2", charts: ["deploy/charts/*"] },
  { module: "github.com/envoyproxy/gateway", version: "v1.9.1", charts: ["charts/*"] },
  { module: "github.com/kyverno/kyverno", version: "v1.19.1", charts: ["charts/*"] },
  { module: "github.com/open-policy-agent/gatekeeper/v3", version: "v3.23.1", charts: ["charts/*"] },
  { module: "github.com/hashicorp/vault-helm", version: "v0.34.1", charts: ["."] },
  { module: "github.com/traefik/traefik-helm-chart", version: "v41.6.0+incompatible", charts: ["*"] },
  {
    module: "github.com/kedacore/charts",
    version: "v2.20.3-0.20260903105638-fe065f4d8938+incompatible",
    charts: ["*"],
  },
  { module: "go.universe.tf/metallb", version: "v0.15.2", charts: ["charts/*"] },
  { module: "sigs.k8s.io/external-dns", version: "v0.21.0", charts: ["charts/*"] },
  { module: "sigs.k8s.io/descheduler", version: "v0.36.0", charts: ["charts/*"] },
  { module: "sigs.k8s.io/metrics-server", version: "v0.9.0", charts: ["charts/*"] },
  { module: "sigs.k8s.io/cluster-api-operator", version: "v0.29.0", charts: ["hack/charts/*"] },
  { module: "github.com/aws/karpenter-provider-aws", version: "v1.14.1", charts: ["charts/*"] },
  { module: "github.com/elastic/cloud-on-k8s/v3", version: "v3.5.0", charts: ["deploy/*"] },
  {
    module: "github.com/prometheus-community/helm-charts",
    version: "v0.0.0-20260828105119-ed5d7d9b5933",
    charts: ["charts/*"],
  },
  { module: "github.com/grafana/helm-charts", version: "v0.0.0-20260820194520-7a0ab968961a", charts: ["charts/*"] },
  { module: "github.com/argoproj/argo-helm", version: "v0.0.0-20260904222229-3bbb4305eea9", charts: ["charts/*"] },
  { module: "github.com/bitnami/charts", version: "v0.0.0-20260907150927-c0703daaf78e", charts: ["bitnami/*"] },
];
