import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { findControlPlane } from "@konverge/real";
import { parseYaml } from "@konverge/schema";

/** Images that no simulated node of a real control plane can pull. */
export const UNPULLABLE: readonly string[] = ["registry.example/none:1", "registry.example/builder:1"];

interface PodStage {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly selector: { readonly matchExpressions: readonly object[] } };
}

const IMAGES = ".spec.containers.[].image";
const isUnpullable = UNPULLABLE.map((image) => JSON.stringify(image)).join(" ");

/** What a kubelet reports of pods whose images it asks for in vain. */
const WAITS: PodStage & Record<string, unknown> = {
  apiVersion: "kwok.x-k8s.io/v1alpha1",
  kind: "Stage",
  metadata: { name: "pod-waits-for-image" },
  spec: {
    resourceRef: { apiGroup: "v1", kind: "Pod" },
    selector: {
      matchExpressions: [
        { key: ".metadata.deletionTimestamp", operator: "DoesNotExist" },
        { key: ".status.phase", operator: "In", values: ["Pending"] },
        { key: IMAGES, operator: "In", values: UNPULLABLE },
        {
          key: ".status.containerStatuses.[].state.waiting.reason",
          operator: "NotIn",
          values: ["ImagePullBackOff"],
        },
      ],
    },
    next: {
      statusTemplate: [
        "{{ $now := Now }}",
        "conditions:",
        ...["Ready", "ContainersReady"].flatMap((type) => [
          "- lastTransitionTime: {{ $now | Quote }}",
          '  status: "False"',
          "  reason: ContainersNotReady",
          `  type: ${type}`,
        ]),
        "containerStatuses:",
        "{{ range .spec.containers }}",
        "- image: {{ .image | Quote }}",
        '  imageID: ""',
        "  name: {{ .name | Quote }}",
        "  ready: false",
        "  restartCount: 0",
        "  state:",
        "    waiting:",
        `      {{ if eq .image ${isUnpullable} }}`,
        "      reason: ImagePullBackOff",
        `      message: {{ printf "Back-off pulling image %q: manifest unknown" .image | Quote }}`,
        "      {{ else }}",
        "      reason: ContainerCreating",
        "      {{ end }}",
        "{{ end }}",
        "phase: Pending",
      ].join("\n"),
    },
  } as PodStage["spec"],
};

/** KWOK's own `Stage` objects for pods, except that pods whose images cannot be pulled do not start. */
export function podStages(): readonly object[] {
  const plane = findControlPlane();
  if (!plane.available) throw new Error(plane.why);
  const own = plane.stages
    .filter((path) => basename(path).startsWith("pod-"))
    .flatMap((path) => parseYaml(readFileSync(path, "utf8")) as PodStage[]);
  return [...own.map((stage) => (stage.metadata.name === "pod-ready" ? withoutUnpullable(stage) : stage)), WAITS];
}

function withoutUnpullable({ spec, ...stage }: PodStage): object {
  const unless = { key: IMAGES, operator: "NotIn", values: UNPULLABLE };
  return {
    ...stage,
    spec: { ...spec, selector: { matchExpressions: [...spec.selector.matchExpressions, unless] } },
  };
}
