import { UsageError } from "./usage-error.ts";

/** The packages that the command can do without, and what it cannot do then. */
const OPTIONAL: Readonly<Record<string, string>> = {
  "@konverge/dev":
    "the embedded cluster and the console are in the package @konverge/dev, which is not installed: npm install --save-dev @konverge/dev",
  "@konverge/operators":
    "the operators that come with Konverge are in the package @konverge/operators, which is not installed: name a module that exports your own operators, or npm install @konverge/operators",
};

/** Whether an import failed because the package itself is not installed, rather than something that it needs. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message = "" } = error as NodeJS.ErrnoException;
  return code === "ERR_MODULE_NOT_FOUND" && message.includes(`Cannot find package '${name}'`);
}

/** An error that says what to install, if that is what is wrong; otherwise the error as it was. */
export function explained(error: unknown): unknown {
  for (const [name, what] of Object.entries(OPTIONAL)) {
    if (isMissing(error, name)) return new UsageError(what, { cause: error });
  }
  return error;
}
