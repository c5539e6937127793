// Started by the launchers of `konverge envtest`, as a separate process: the embedded API server alone. It is published as a
// bundle with all that it needs, because most of the time until it is ready goes into finding and reading modules.
import { enableCompileCache } from "node:module";

enableCompileCache();
const { fail } = await import("./fail.ts");
const { runEnvtestApiServer } = await import("./envtest/envtest-apiserver.ts");
await runEnvtestApiServer(process.argv.slice(2)).catch(fail);
