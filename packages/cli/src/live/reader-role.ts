import { rolesFor } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import type { KindToRead } from "./kinds-to-read.ts";

/** The role that suffices to read these kinds, with its binding to a service account of the
 * namespace `default`, as YAML: it lists objects, and nothing else. */
export function readerRole(kinds: readonly KindToRead[], name = "konverge-snapshot"): string {
  const accesses = kinds.map(({ kind: { group, plural } }) => ({ verb: "list", group, resource: plural }));
  return printYaml(...rolesFor(accesses, { name, serviceAccount: { name, namespace: "default" } }));
}
