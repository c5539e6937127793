import { rolesFor } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import type { KindToRead } from "./kinds-to-read.ts";

/** A service account of the namespace `default` with the role that suffices to read these kinds, as YAML: it lists objects, and
 * nothing else. */
export function readerRole(kinds: readonly KindToRead[], name = "konverge-snapshot"): string {
  const accesses = kinds.map(({ kind: { group, plural } }) => ({ verb: "list", group, resource: plural }));
  const serviceAccount = { name, namespace: "default" };
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: serviceAccount };
  return printYaml(account, ...rolesFor(accesses, { name, serviceAccount }));
}
