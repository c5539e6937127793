/** A resource that clients write and watch. */
export interface Resource {
  readonly plural: string;
  readonly apiVersion: string;
  readonly kind: string;
}

const GROUP = "soak.example.com";

/** Two that are built in and one that is defined. */
export const RESOURCES: readonly Resource[] = [
  { plural: "configmaps", apiVersion: "v1", kind: "ConfigMap" },
  { plural: "secrets", apiVersion: "v1", kind: "Secret" },
  { plural: "marbles", apiVersion: `${GROUP}/v1`, kind: "Marble" },
];

export const NAMESPACES: readonly string[] = ["red", "blue"];

/** The path of an object, of the objects of a namespace, or of all. */
export function pathOf({ plural, apiVersion }: Resource, key = ""): string {
  const [namespace, name] = key.split("/");
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespace ? `/namespaces/${namespace}` : ""}/${plural}${name ? `/${name}` : ""}`;
}

/** What must exist before the soak begins, with the path to create it at. */
export function preparation(): [path: string, object: object][] {
  const names = { plural: "marbles", singular: "marble", kind: "Marble" };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return [
    ...NAMESPACES.map((name): [string, object] => ["/api/v1/namespaces", { metadata: { name } }]),
    [
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `marbles.${GROUP}` },
        spec: {
          group: GROUP,
          scope: "Namespaced",
          names,
          versions: [{ name: "v1", served: true, storage: true, schema }],
        },
      },
    ],
  ];
}
