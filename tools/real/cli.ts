// node tools/real/cli.ts up [--nodes 3] [--gpus 8] [--bare] [--audit-log FILE]
// Runs a real control plane in the foreground, for use by hand. Ctrl-C takes it away.
import { parseArgs } from "node:util";
import { startRealCluster } from "./start.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: "string", default: "3" },
    gpus: { type: "string", default: "8" },
    /** etcd and kube-apiserver alone. */
    bare: { type: "boolean", default: false },
    kubernetes: { type: "string" },
    "audit-log": { type: "string" },
  },
});

if (positionals[0] !== "up") {
  console.error(
    "usage: node tools/real/cli.ts up [--bare] [--nodes N] [--gpus N] [--kubernetes VERSION] [--audit-log FILE]",
  );
  process.exit(2);
}

// Set before anything runs: a signal during the start must clean up too, which the watchdog does when we exit.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(0));

try {
  const cluster = await startRealCluster({
    kubernetes: values.kubernetes,
    controllers: !values.bare,
    scheduler: !values.bare,
    kwok: values.bare ? undefined : { nodes: Number(values.nodes), gpus: Number(values.gpus) },
    auditLog: values["audit-log"],
  });
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
  console.log(`# ${cluster.url}, logs in ${cluster.folder}/logs; Ctrl-C ends it`);
  setInterval(() => {}, 1 << 30);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
