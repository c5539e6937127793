import { dns1123LabelErrors, fileNameProblem } from "@konverge/core";
import { UsageError } from "./usage-error.ts";

/**
 * A name that becomes the name of a file or folder: of a cluster, of an operator. It is one on every platform, and stays in
 * the folder that it is put into. `what` says in the message where it comes from: `--name`.
 */
export function checkedName(name: string, what: string): string {
  if (isName(name)) return name;
  throw new UsageError(
    `${what} ${JSON.stringify(name)} cannot be used as a name: use lower case letters, digits and '-', with a letter or digit at both ends, at most 63 characters, and no name of a Windows device`,
  );
}

/** Whether {@link checkedName} accepts it. */
export function isName(name: string): boolean {
  return dns1123LabelErrors(name).length === 0 && fileNameProblem(name, "win32") === undefined;
}
