import type { CustomResourceDefinition } from "@konverge/kinds";
import { INSTALLER } from "./apply-objects.ts";

/** What controller-gen writes on each definition that it makes. Konverge's own have no such mark. */
const GENERATED = "controller-gen.kubebuilder.io/version";

/**
 * Whether another operator has brought this definition: it was made by the tool that operators in Go are built with, and has
 * never been installed from here. To replace it would lose fields of objects that its operator looks after.
 */
export function isForeign({ metadata }: Pick<CustomResourceDefinition, "metadata">): boolean {
  const isOurs = metadata.managedFields?.some(({ manager }) => manager === INSTALLER) ?? false;
  return !isOurs && metadata.annotations?.[GENERATED] !== undefined;
}
