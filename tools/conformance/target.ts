import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NodeCluster, whyNoRealNodes } from "@konverge/nodes";
import { startRealCluster } from "@konverge/real";
import { nodeImages } from "./node-images.ts";

/** A cluster that specs run against. */
export interface Target extends AsyncDisposable {
  readonly name: string;
  readonly kubeconfig: string;
  /** The errors that the cluster itself has logged. */
  log(): string;
}

const LONGEST_LOG = 20_000;

/** The real control plane with controllers, scheduler and KWOK's nodes: the reference. */
export async function realTarget(): Promise<Target> {
  const cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 3, gpus: 0 } });
  return {
    name: "the real control plane with KWOK",
    kubeconfig: cluster.kubeconfig,
    log: () => "",
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

/** The embedded control plane with two real nodes, which have those images of the specs that can be made here. */
export async function realNodesTarget(images: readonly string[]): Promise<Target> {
  const why = whyNoRealNodes();
  if (why) throw new Error(why);
  const cluster = await NodeCluster.start({ name: "conformance", images: nodeImages(images), operators: false });
  return {
    name: "the embedded control plane with two real nodes",
    kubeconfig: cluster.kubeconfig,
    log: () => "",
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

/**
 * The embedded cluster, in a separate process so that neither it nor the specs' clients wait for the other. It knows the
 * images of the specs, and no others.
 */
export async function embeddedTarget(images: readonly string[]): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-conformance-cluster-"));
  const kubeconfig = join(folder, "kubeconfig");
  const script = fileURLToPath(new URL("embedded-cluster.ts", import.meta.url));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, kubeconfig, ...images], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-LONGEST_LOG);
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the embedded cluster ended with ${code}:\n${errors}`)));
  });
  return {
    name: "the embedded cluster",
    kubeconfig,
    log: () => errors,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
