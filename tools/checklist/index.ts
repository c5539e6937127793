/**
 * The claims of the documents, as an executable list.
 *
 * Each document has a file in `lines`, whose default export is made by {@link checklist}: stories, each of which checks some
 * lines in a test environment. Everything is checked with the document's own names and values and again with others, on the
 * embedded cluster and on a real control plane. `npm run checklist` prints the table.
 *
 * ```ts
 * export default checklist({
 *   id: "D0",
 *   name: "what-is-a-crd",
 *   cases: [
 *     { namespace: "default", model: "my-model" },
 *     { namespace: "team-b", model: "other" },
 *   ],
 *   stories: [
 *     line("L96", "kubectl lists the models", async (environment, { model }) => { … }, { kubectl: true }),
 *   ],
 * });
 * ```
 */
export * from "./form.ts";
export { type LineResult, type Places, playStory } from "./run.ts";
