/** The labels that a kubelet may give its own node although they are Kubernetes' own. */
const OF_KUBELETS = new Set([
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);

type Labels = Readonly<Record<string, string>>;

/** The labels that a node changes of itself and may not: they would draw pods to it that are meant for others. */
export function forbiddenNodeLabels(now: Labels = {}, before: Labels = {}): string[] {
  return Object.keys({ ...now, ...before })
    .filter((label) => now[label] !== before[label])
    .filter((label) => {
      const slash = label.indexOf("/");
      const domain = slash < 0 ? "" : label.slice(0, slash);
      if (isWithin(domain, "node-restriction.kubernetes.io")) return true;
      if (!isWithin(domain, "kubernetes.io") && !isWithin(domain, "k8s.io")) return false;
      const ofKubelets = isWithin(domain, "kubelet.kubernetes.io") || isWithin(domain, "node.kubernetes.io");
      return !OF_KUBELETS.has(label) && !ofKubelets;
    })
    .sort();
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
