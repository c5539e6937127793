// The `konverge` command. Each command loads what it needs when it runs: an operator in production loads no cluster.
import { setFlagsFromString } from "node:v8";
import { fail } from "./fail.ts";
import { konverge } from "./program.ts";

// Operators make much garbage that lives for a moment: every event that they parse. A nursery that does not grow costs no
// time worth mentioning and saves 30 MiB (docs/decisions/027-operator-footprint.md).
if (process.argv[2] === "run") setFlagsFromString("--semi-space-growth-factor=1");

await konverge(fail).parseAsync().catch(fail);
