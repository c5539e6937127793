import { spawn } from "node:child_process";
import type { OperatorObjects } from "../manifests/operator-objects.ts";
import { startedModule } from "../started-files.ts";
import { UsageError } from "../usage-error.ts";

/** Which operators a cluster is to know. */
export interface CatalogChoice {
  /** Modules that export them. Default: that of the project the folder is in, and the operators that come with Konverge. */
  readonly modules?: readonly string[];
  /** `all`, or names with commas between them. Default: all. */
  readonly names?: string;
  /** Default: where this process was started. */
  readonly folder?: string;
}

/** What is known of an operator without its code. */
export interface CatalogEntry {
  readonly name: string;
  /** The URL of the module that exports it. */
  readonly module: string;
  readonly settings: readonly { readonly flag: string; readonly env?: string }[];
  /** Its installation, in the default namespace. */
  readonly objects: OperatorObjects;
}

/** The operators that pods of a cluster can run: those that the person who runs the cluster has named, and no others. */
export interface OperatorCatalog {
  readonly operators: readonly CatalogEntry[];
  /** The files and folders that their code is in: all that their processes can read, besides their pods' folders. */
  readonly code: readonly string[];
}

/** What the process answers that makes the catalog. */
type Answer = { readonly catalog: OperatorCatalog } | { readonly problem: string };

/**
 * Loads operators in a separate process and describes them: the process of a cluster loads none of their code, and the
 * separate one records which files the code is in.
 */
export async function operatorCatalog(choice: CatalogChoice = {}): Promise<OperatorCatalog> {
  const { modules = [], names = "all", folder = process.cwd() } = choice;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", startedModule("operator-catalog")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    windowsHide: true,
  });
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      child.once("message", (message) => resolve(message as Answer));
      child.once("error", reject);
      child.once("exit", () => reject(new Error("the operators could not be loaded: see the output above")));
      child.send({ modules, names, folder } satisfies CatalogChoice, () => {});
    });
    if ("problem" in answer) throw new UsageError(answer.problem);
    return answer.catalog;
  } finally {
    child.kill();
  }
}
