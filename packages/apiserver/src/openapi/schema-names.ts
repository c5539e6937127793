/** Where the definitions of a file of facts stand in Go's tree of packages, as OpenAPI names them. */
const PACKAGES: Record<string, string> = {
  "meta.v1": "io.k8s.apimachinery.pkg.apis.meta.v1",
  intstr: "io.k8s.apimachinery.pkg.util.intstr",
  resource: "io.k8s.apimachinery.pkg.api.resource",
  runtime: "io.k8s.apimachinery.pkg.runtime",
  version: "io.k8s.apimachinery.pkg.version",
  "apiextensions.v1": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
  "apiregistration.v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
};

/** `io.k8s.api.apps.v1.Deployment` for the definition `apps.v1.Deployment`. */
export function builtinSchemaName(definition: string): string {
  const dot = definition.lastIndexOf(".");
  const file = definition.slice(0, dot);
  return `${PACKAGES[file] ?? `io.k8s.api.${file}`}.${definition.slice(dot + 1)}`;
}

/** `com.example.v1.Foo` for a kind of the group example.com. */
export function customSchemaName(group: string, version: string, kind: string): string {
  return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

export function schemaReference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
