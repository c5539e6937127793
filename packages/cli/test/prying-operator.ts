import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { operator } from "@konverge/runtime";

/** Tries what an operator in a pod must not be able to do, and logs how that went. */
export const pryingOperator = operator({
  name: "prying-operator",
  description: "Pries.",
  kinds: [],
  settings: [{ flag: "outside", env: "OUTSIDE", description: "A file that is not its own." }],
  create: ({ settings, log }) => {
    const outside = settings["outside"];
    // It is made once only to be described, where there is nothing to pry into.
    if (outside === undefined) return { controllers: [] };
    const own = join(process.cwd(), "note");
    const tried = {
      "read outside": outcome(() => readFileSync(outside)),
      "write outside": outcome(() => writeFileSync(`${outside}.new`, "")),
      "link outside": outcome(() => symlinkSync(outside, `${own}.link`)),
      "open a database outside": outcome(() => {
        const { DatabaseSync } = process.getBuiltinModule("node:sqlite") ?? {};
        if (!DatabaseSync) throw Object.assign(new Error(), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
        new DatabaseSync(`${outside}.db`).close();
      }),
      "start a process": outcome(() => execFileSync("true")),
      "start a worker": outcome(() => new Worker("", { eval: true })),
      "load an addon": outcome(() => process.dlopen({ exports: {} }, own)),
      "write its own folder": outcome(() => writeFileSync(own, "mine")),
      "read its own folder": outcome(() => readFileSync(own)),
    };
    log.info({ tried, env: Object.keys(process.env), arguments: process.argv.slice(2) }, "pried");
    return { controllers: [] };
  },
});

function outcome(act: () => unknown): string {
  try {
    act();
    return "done";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
