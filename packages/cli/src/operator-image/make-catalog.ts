import { pathToFileURL } from "node:url";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import { operatorObjects } from "../manifests/operator-objects.ts";
import { explained } from "../missing-package.ts";
import { chosenOperators, knownOperators } from "../operators/operator-modules.ts";
import { startedModule } from "../started-files.ts";
import type { CatalogChoice, OperatorCatalog } from "./catalog.ts";
import { readableCode } from "./readable-code.ts";
// What the containers load besides the operators is part of the code that is recorded.
import "./run-container.ts";

/** Loads operators and describes them. `loaded` are the URLs of all modules that this process has loaded by then. */
export async function makeCatalog(choice: Required<CatalogChoice>, loaded: Set<string>): Promise<OperatorCatalog> {
  const known = await knownOperators(choice.modules, choice.folder).catch((error: unknown) => {
    throw explained(error);
  });
  const named = known.map((one) => ({ ...one, name: one.operator.name }));
  const operators = chosenOperators(named, choice.names).map(({ name, module, operator }) => ({
    name,
    module,
    settings: (operator.settings ?? []).map(({ flag, env }) => ({ flag, ...(env !== undefined && { env }) })),
    objects: operatorObjects(operator, { namespace: DEFAULT_NAMESPACE, image: DEFAULT_IMAGE }),
  }));
  return { operators, code: readableCode([...loaded, pathToFileURL(startedModule("operator-container")).href]) };
}
