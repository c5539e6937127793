// Started by `operatorCatalog`, as a separate process: loads modules with operators and describes them.
import { enableCompileCache, registerHooks } from "node:module";
import type { CatalogChoice } from "./operator-image/catalog.ts";

enableCompileCache();
const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url);
    return nextLoad(url, context);
  },
});

process.once("message", async (choice: Required<CatalogChoice>) => {
  const answer = await import("./operator-image/make-catalog.ts")
    .then(async ({ makeCatalog }) => ({ catalog: await makeCatalog(choice, loaded) }))
    .catch((error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }));
  // Modules may have left timers and connections behind.
  process.send?.(answer, () => process.exit(0));
});
