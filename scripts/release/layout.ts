/** What is published: folders of `packages/` put together into the two packages that users install. */
export interface PublishedPackage {
  readonly name: string;
  /** The folder with its own package.json and entry modules. */
  readonly folder: string;
  readonly description: string;
  /** Folders whose code it contains. */
  readonly contains: readonly string[];
}

export const published: readonly PublishedPackage[] = [
  {
    name: "konverge",
    folder: "konverge",
    description: "Kubernetes operators in TypeScript: typed kinds, client, cache, controllers, webhooks.",
    contains: ["core", "kinds", "schema", "client", "runtime"],
  },
  {
    name: "@konverge/dev",
    folder: "dev",
    description: "An embedded Kubernetes and the tools that prove operators on it.",
    contains: ["apiserver", "cluster", "testing"],
  },
];

/** The published package that contains a folder. */
export function homeOf(folder: string): PublishedPackage | undefined {
  return published.find(({ contains }) => contains.includes(folder));
}
