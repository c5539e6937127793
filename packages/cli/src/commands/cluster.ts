import { resolve } from "node:path";
import { realClock } from "@konverge/core";
import { Command, Option } from "commander";
import { factor, ipAddress, ipv4Prefix, port, whole } from "../arguments.ts";
import { SNAPSHOT_SIGNAL } from "../embedded/snapshot.ts";
import { type Output, outputOption } from "../output-option.ts";
import type { Ended } from "../up/background.ts";
import { clustersWithNodes, hasNodes } from "../up/nodes-folder.ts";
import type { RunningCluster } from "../up/running-clusters.ts";
import type { UpOptions } from "../up/up.ts";
import { UsageError } from "../usage-error.ts";
import { stopOnSignals } from "./stop-on-signals.ts";

/** `konverge up` and `down`. */
export function clusterCommands(fail: (error: unknown) => never): Command[] {
  const up = upCommand();
  up.action((given: UpOptions & UpFlags) => {
    const isChosen = (name: string) => up.getOptionValueSource(name) === "cli";
    const simulated = { ...(!isChosen("nodes") && { nodes: 0 }), ...(!isChosen("gpus") && { gpus: "none" }) };
    return runUp(given.realNodes ? { ...given, ...simulated } : given, fail);
  });
  return [up, downCommand().action(runDown)];
}

function upCommand(): Command {
  return new Command("up")
    .description("start an embedded Kubernetes cluster on a port of this machine")
    .option("--name <name>", "name of the cluster and of its context", "konverge")
    .addOption(new Option("--port <number>", "port to listen on").argParser(port).default(0, "a free port"))
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--advertise-address <address>",
      "address at which nodes and pods on other machines reach it (default: the address it listens on)",
      ipAddress,
    )
    .option(
      "--cluster-cidr <cidr>",
      "allocate a /24 of this range to each node that has no pod CIDR (default: none)",
      ipv4Prefix,
    )
    .option(
      "--kubeconfig <file>",
      "write the context to this file, as JSON if its name ends with .json (default: your kubeconfig)",
    )
    .option(
      "--kubernetes <version>",
      "minor version of Kubernetes to serve, 1.33 to 1.37: its kinds, fields, defaults and feature gates (default: 1.36)",
    )
    .option("--data <folder>", "keep the cluster's state in this folder (default: in memory)")
    .addOption(
      new Option(
        "--durability <what>",
        "what the state in --data survives: the end of the process, or of the machine's power",
      )
        .choices(["process", "power"])
        .default("process"),
    )
    .option("--snapshot <file>", "start with the state of this file, which `konverge snapshot` wrote")
    .option("--nodes <number>", "number of simulated nodes without GPUs; none with --real-nodes", whole, 3)
    .option(
      "--gpus <list>",
      "simulated nodes with GPUs: TYPE=NUMBER or TYPE=NUMBERxNODES, or none; none with --real-nodes",
      "H100=8x2,A100=8",
    )
    .option(
      "--real-nodes <number>",
      "number of real nodes on this machine, with containerd and kubelet; only on Linux, as root",
      whole,
    )
    .option("--kubelet <file>", "the kubelet of real nodes (default: the one that is found)")
    .option("--kube-proxy <file>", "the kube-proxy of real nodes (default: the one that is found)")
    .option("--oci-runtime <file>", "the OCI runtime that starts containers of real nodes (default: runc or crun)")
    .option("--time-scale <factor>", "how many times as fast time passes in the cluster", factor, 1)
    .option("--operators <names>", "run operators in it: all, none, or a comma-separated list of names", "none")
    .option(
      "--bootstrap-kubeconfig <file>",
      "let real kubelets join: write the kubeconfig with which they request their certificates to this file; valid for 24 hours",
    )
    .option(
      "--program <image=command>",
      "run this command on this machine for containers of this image; repeatable",
      several,
    )
    .option(
      "--host-port <image=port>",
      "the program of this image listens on this port of this machine, which stands for the same port of its pods; repeatable",
      several,
    )
    .option("--strict-images", "fail containers of unregistered images with ErrImagePull (default: simulate them)")
    .option("--image <image>", "register an image: its containers are simulated; repeatable", several)
    .option(
      "--audit-policy-file <file>",
      "log requests as this audit policy (audit.k8s.io/v1) says; with --audit-log-path",
    )
    .option(
      "--audit-log-path <file>",
      "append audit events to this file, one line of JSON each; - is the standard output",
    )
    .option("--console", "serve the console, which shows the cluster in the browser, and print its link")
    .option("--until-stdin-closes", "stop when standard input closes: it ends with the program that started it")
    .addOption(outputOption("when it is ready"))
    .option("--background", "return when the cluster is ready; stop it with `konverge down`")
    .option("--reuse", "return at once if a cluster of this name is already running")
    .addHelpText(
      "after",
      "\nNodes and containers are simulated unless you ask for real ones; everything that goes through the API is real.\nFor example: konverge up --background\n             sudo npx konverge up --real-nodes 2",
    );
}

async function runUp(
  { background, reuse, output, untilStdinCloses, ...options }: UpOptions & UpFlags,
  fail: (error: unknown) => never,
): Promise<void> {
  const { summary } = await import("../up/summary.ts");
  const report = (cluster: RunningCluster & { console?: string }, inBackground: boolean) =>
    console.log(output === "json" ? JSON.stringify(cluster) : summary(cluster, inBackground));
  const { isRunning, notedCluster } = await import("../up/running-clusters.ts");
  const running = reuse ? notedCluster(options.name) : undefined;
  if (running && (await isRunning(running))) return report(running, true);
  if (background && options.console) {
    throw new UsageError(
      "--console ends with the terminal: leave it out, and run `konverge console` beside the cluster",
    );
  }
  if (background && untilStdinCloses) {
    throw new UsageError("--until-stdin-closes: leave out --background, which has no standard input");
  }
  if (background) {
    const { upInBackground } = await import("../up/background.ts");
    const args = process.argv
      .slice(process.argv.indexOf("up") + 1)
      .filter((arg) => !["--background", "--reuse"].includes(arg));
    return report(await upInBackground(options.name, args), true);
  }
  const { up: start } = await import("../up/up.ts");
  // Real nodes take seconds to start and to remove, and outlive this process: it does not end before they are removed.
  const stopping = stopOnSignals(() => unremovedNodes(options));
  const started = await start(options, realClock(), stopping).catch((error: unknown) => {
    if (stopping.aborted && error === stopping.reason) process.exit(130);
    throw error;
  });
  report({ ...started.noted, ...(started.console && { console: started.console.url }) }, false);
  // The process that started it in the background waits for this.
  process.send?.("ready");
  const stop = () => void started.stop().then(() => process.exit(0), fail);
  const ending = AbortSignal.any([stopping, ...(untilStdinCloses ? [closedInput()] : [])]);
  ending.addEventListener("abort", stop);
  if (ending.aborted) stop();
  // By default it opens a debugger, which a program of a pod could then connect to.
  process.on("SIGUSR1", () => {});
  if (process.platform !== "win32") process.on(SNAPSHOT_SIGNAL, () => started.saveSnapshot());
}

function downCommand(): Command {
  return new Command("down")
    .description("stop a cluster that `konverge up` started")
    .addOption(new Option("--name <name>", "the cluster").default("konverge"))
    .option("--all", "stop all clusters")
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nExits with 0 if no such cluster runs, too.\nFor example: npx konverge down\n             npx konverge down --all --output json",
    );
}

async function runDown({ name, all, output }: { name: string; all?: boolean; output: Output }): Promise<void> {
  const { down: end, graceSeconds } = await import("../up/background.ts");
  const { notedNames } = await import("../up/running-clusters.ts");
  const outcomes: { name: string; outcome: Ended | "absent" }[] = [];
  for (const one of all ? new Set([...notedNames(), ...clustersWithNodes()]) : [name]) {
    const grace = graceSeconds(one);
    const ended = await end(one, realClock());
    outcomes.push({ name: one, outcome: ended ?? "absent" });
    if (output === "json") continue;
    if (ended === "killed") {
      console.log(`cluster ${one} did not end within ${grace} seconds: its process was killed`);
    } else console.log(ended ? `cluster ${one} has ended` : `no cluster named ${one} runs`);
  }
  if (output === "json") console.log(JSON.stringify(outcomes, undefined, 2));
}

/** Why the process of a cluster cannot end yet: the folder of its nodes is made before them, and removed after them. */
function unremovedNodes({ name, realNodes = 0 }: UpOptions): string | undefined {
  if (realNodes === 0 || !hasNodes(name)) return undefined;
  return `the real nodes of cluster ${name} are still being removed: wait, or run konverge down --name ${name}, which kills this process after a minute and removes them`;
}

/** Aborts when the process that started this one has closed its standard input, or is gone. */
function closedInput(): AbortSignal {
  const closed = new AbortController();
  const close = () => closed.abort();
  process.stdin.once("end", close).once("error", close).resume();
  return closed.signal;
}

interface UpFlags {
  background?: boolean;
  reuse?: boolean;
  output: Output;
  untilStdinCloses?: boolean;
}

/** `konverge envtest`, and what its launchers call. */
export function envtestCommands(): Command[] {
  return [
    new Command("envtest")
      .description("print a folder for KUBEBUILDER_ASSETS that makes envtest suites run on the embedded cluster")
      .option("--controllers", "run the built-in controllers, the scheduler and simulated nodes as well")
      .option("--no-strict-images", "simulate containers of any image (default: only of registered images)")
      .option("--image <image>", "register an image: its containers are simulated; repeatable", several)
      .option(
        "--kubernetes <version>",
        "minor version of Kubernetes to serve, 1.33 to 1.37: its kinds, fields, defaults and feature gates (default: 1.36)",
      )
      .option("--folder <path>", "folder to write (default: one in your home directory)")
      .addHelpText("after", '\nFor example: KUBEBUILDER_ASSETS="$(konverge envtest)" go test ./...')
      .action(async ({ controllers = false, strictImages, image: images = [], folder, kubernetes }: EnvtestFlags) => {
        const { writeAssets } = await import("../envtest/assets.ts");
        const place = folder === undefined ? {} : { folder: resolve(folder) };
        const version = kubernetes === undefined ? {} : { kubernetes };
        console.log(writeAssets({ controllers, anyImage: !strictImages, images, ...place, ...version }));
      }),
  ];
}

/** What stands where envtest expects kube-apiserver. */
export function envtestApiServerCommand(): Command {
  return new Command("envtest-apiserver")
    .option("--controllers")
    .option("--no-strict-images")
    .option("--image <image>", "", several)
    .argument("[flags...]", "flags of kube-apiserver")
    .action(async (flags: string[], { controllers = false, strictImages, image: images = [] }: EnvtestFlags) => {
      const { runEnvtestApiServer } = await import("../envtest/envtest-apiserver.ts");
      if (!controllers) return runEnvtestApiServer(flags);
      const { withControllers } = await import("../envtest/with-controllers.ts");
      await runEnvtestApiServer(flags, withControllers({ strictImages, images }));
    });
}

interface EnvtestFlags {
  controllers?: boolean;
  strictImages: boolean;
  image?: readonly string[];
  folder?: string;
  kubernetes?: string;
}

function several(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
