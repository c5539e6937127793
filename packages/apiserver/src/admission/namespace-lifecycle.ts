import { ApiError, forbidden, notFound } from "@konverge/core";
import { type AdmissionPlugin, refusal } from "./attributes.ts";

const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/** Nothing comes into a namespace that is not there or is going; the system's own namespaces stay. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  handles: ({ operation, namespace, group, resource }) =>
    namespace !== "" || (operation === "DELETE" && group === "" && resource === "namespaces"),
  mutate(attributes) {
    const { operation, group, resource, namespace, name, call } = attributes;
    if (group === "" && resource === "namespaces") {
      if (operation !== "DELETE" || !IMMORTAL.has(name)) return;
      throw forbidden({ group, plural: resource }, name, "this namespace may not be deleted");
    }
    if (operation === "DELETE" || resource === "localsubjectaccessreviews") return;
    const entry = call.store.collection("/namespaces").get(namespace);
    if (!entry) throw notFound({ group: "", plural: "namespaces" }, namespace);
    if (operation !== "CREATE" || entry.fields?.["status.phase"] !== "Terminating") return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const { status } = refusal(attributes, why);
    const cause = {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    };
    throw new ApiError({ ...status, details: { ...status.details, causes: [cause] } });
  },
};
