import { groupKindText, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import { PermanentError } from "@konverge/runtime";
import { RenderError, type Rendered, type RenderedDocument } from "./engine/rendered.ts";

/**
 * The same, with the namespace of each object: the release's where a template names none, and none where its kind has none. What
 * templates render has to be among the kinds that the operator's role has permissions for.
 */
export function placedObjects(rendered: Rendered, namespace: string, kinds: readonly KindRef<KubeObject>[]): Rendered {
  const known = new Map(kinds.map((kind) => [groupKindText(kind), kind]));
  const place =
    (path: string) =>
    (object: KubeObject): KubeObject => {
      checkFields(path, object);
      const kind = known.get(groupKindText({ group: parseApiVersion(object.apiVersion).group, kind: object.kind }));
      if (!kind) throw notPermitted(path, object);
      const { namespace: given, ...metadata } = object.metadata;
      return { ...object, metadata: kind.namespaced ? { ...metadata, namespace: given || namespace } : metadata };
    };
  const placed = <D extends RenderedDocument>(document: D): D => ({
    ...document,
    objects: document.objects.map(place(document.path)),
  });
  const isUsed = ({ events }: Rendered["hooks"][number]) => events.some((event) => event !== "test");
  return {
    ...rendered,
    manifests: rendered.manifests.map(placed),
    hooks: rendered.hooks.filter(isUsed).map(placed),
  };
}

function checkFields(path: string, object: KubeObject): void {
  const { apiVersion, kind, metadata } = object as Partial<KubeObject>;
  const lacks =
    typeof apiVersion !== "string"
      ? "apiVersion"
      : typeof kind !== "string"
        ? "kind"
        : typeof metadata?.name !== "string"
          ? "metadata.name"
          : undefined;
  if (lacks === undefined) return;
  throw new RenderError(`${path} renders an object without ${lacks}: ${JSON.stringify(object).slice(0, 200)}`);
}

function notPermitted(path: string, { apiVersion, kind, metadata }: KubeObject): PermanentError {
  return new PermanentError(
    "KindNotPermitted",
    `${path} renders ${apiVersion} ${kind} ${metadata.name}, but the operator's role has no rule for this kind, because no template names it: add { apiVersion: ${JSON.stringify(apiVersion)}, kind: ${JSON.stringify(kind)} } to kinds of helmOperator`,
  );
}
