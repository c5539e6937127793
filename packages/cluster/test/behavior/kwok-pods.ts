/**
 * `Stage` objects of KWOK that run pods by the same annotations as simulated nodes (`sim.konverge.dev/…`), so that a test can
 * choose how a pod behaves in both environments. Supported are `ready`, `ready-delay`, `run-duration` and `exit-code`.
 */
const ANNOTATION = (key: string) => `.metadata.annotations["sim.konverge.dev/${key}"]`;
const LIVES = { key: ".metadata.deletionTimestamp", operator: "DoesNotExist" };
const PHASE = (phase: string) => ({ key: ".status.phase", operator: "In", values: [phase] });
const READY = (operator: "In" | "NotIn") => ({
  key: '.status.conditions.[] | select( .type == "Ready" ) | .status',
  operator,
  values: ["True"],
});
const UNREADY = (operator: "In" | "NotIn") => ({ key: ANNOTATION("ready"), operator, values: ["false"] });

function stage(name: string, matchExpressions: object[], next: object, delay?: string): object {
  return {
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind: "Stage",
    metadata: { name },
    spec: {
      resourceRef: { apiGroup: "v1", kind: "Pod" },
      selector: { matchExpressions },
      ...(delay && { delay: { durationMilliseconds: 0, durationFrom: { expressionFrom: ANNOTATION(delay) } } }),
      next,
    },
  };
}

const statusOf = (lines: string[]) => ({ statusTemplate: lines.join("\n") });

const condition = (type: string, status: string) => [
  "- lastTransitionTime: {{ $now | Quote }}",
  `  status: ${JSON.stringify(status)}`,
  `  type: ${type}`,
];

const runs = (ready: boolean) => [
  "containerStatuses:",
  "{{ range .spec.containers }}",
  "- image: {{ .image | Quote }}",
  "  name: {{ .name | Quote }}",
  `  ready: ${ready}`,
  "  started: true",
  "  restartCount: 0",
  "  state: { running: { startedAt: {{ $now | Quote }} } }",
  "{{ end }}",
];

const conditions = (ready: boolean) => [
  "conditions:",
  ...condition("Initialized", "True"),
  ...condition("Ready", ready ? "True" : "False"),
  ...condition("ContainersReady", ready ? "True" : "False"),
];

/** For `startRealCluster({ podStages })`. */
export const kwokPods: readonly object[] = [
  stage("pod-delete", [{ key: ".metadata.deletionTimestamp", operator: "Exists" }], { delete: true }),
  stage(
    "pod-run",
    [LIVES, PHASE("Pending")],
    statusOf([
      "{{ $now := Now }}",
      ...conditions(false),
      ...runs(false),
      "{{ $podIPs := PodIPsWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace }}",
      "{{ with $podIPs }}",
      "podIP: {{ index . 0 | Quote }}",
      "podIPs: [ { ip: {{ index . 0 | Quote }} } ]",
      "{{ end }}",
      "phase: Running",
      "startTime: {{ $now | Quote }}",
    ]),
  ),
  stage(
    "pod-ready",
    [LIVES, PHASE("Running"), READY("NotIn"), UNREADY("NotIn")],
    statusOf(["{{ $now := Now }}", ...conditions(true), ...runs(true)]),
    "ready-delay",
  ),
  stage(
    "pod-unready",
    [LIVES, PHASE("Running"), READY("In"), UNREADY("In")],
    statusOf(["{{ $now := Now }}", ...conditions(false), ...runs(false)]),
  ),
  stage(
    "pod-end",
    [LIVES, PHASE("Running"), READY("In"), { key: ANNOTATION("run-duration"), operator: "Exists" }],
    statusOf([
      "{{ $now := Now }}",
      '{{ $code := or ( index .metadata.annotations "sim.konverge.dev/exit-code" ) "0" }}',
      ...conditions(false),
      "containerStatuses:",
      "{{ range .spec.containers }}",
      "- image: {{ .image | Quote }}",
      "  name: {{ .name | Quote }}",
      "  ready: false",
      "  started: false",
      "  restartCount: 0",
      "  state:",
      "    terminated:",
      "      exitCode: {{ $code }}",
      '      reason: {{ if eq $code "0" }}Completed{{ else }}Error{{ end }}',
      "      startedAt: {{ $now | Quote }}",
      "      finishedAt: {{ $now | Quote }}",
      "{{ end }}",
      'phase: {{ if eq $code "0" }}Succeeded{{ else }}Failed{{ end }}',
    ]),
    "run-duration",
  ),
];
