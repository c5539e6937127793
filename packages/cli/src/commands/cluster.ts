import { resolve } from "node:path";
import { realClock } from "@konverge/core";
import { Command, Option } from "commander";
import { factor, ipAddress, ipv4Prefix, port, whole } from "../arguments.ts";
import type { UpOptions } from "../up/up.ts";
import { stopOnSignals } from "./stop-on-signals.ts";

/** `konverge up` and `down`. */
export function clusterCommands(fail: (error: unknown) => never): Command[] {
  const up = new Command("up")
    .description("start an embedded Kubernetes cluster on a port of this machine")
    .option("--name <name>", "names the cluster and its context", "konverge")
    .option("--port <number>", "port to listen on; any that is free without it", port, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--advertise-address <address>",
      "where nodes and pods of other machines reach it; without it, the address it listens on",
      ipAddress,
    )
    .option(
      "--cluster-cidr <cidr>",
      "allocate each node without one a /24 of this range for its pods; without it, none",
      ipv4Prefix,
    )
    .option("--kubeconfig <file>", "put the context into that file; without it, into your own kubeconfig")
    .option("--data <folder>", "keep the cluster's state there; without it, it ends with the process")
    .option("--nodes <number>", "how many simulated nodes without GPUs; none with --real-nodes", whole, 3)
    .option(
      "--gpus <list>",
      "simulated nodes with GPUs: TYPE=NUMBER or TYPE=NUMBERxNODES, or none; none with --real-nodes",
      "H100=8x2,A100=8",
    )
    .option(
      "--real-nodes <number>",
      "how many real nodes on this machine, with containerd and kubelet; only on Linux, as root",
      whole,
    )
    .option("--kubelet <file>", "the kubelet of real nodes; without it, the one that is found")
    .option("--kube-proxy <file>", "the kube-proxy of real nodes; without it, the one that is found")
    .option("--time-scale <factor>", "let time in the cluster pass that many times as fast", factor, 1)
    .option("--operators <names>", "run operators in it: all, none, or names with commas between them", "none")
    .option(
      "--bootstrap-kubeconfig <file>",
      "let real kubelets join: write the kubeconfig there with which they request their certificates; valid for 24 hours",
    )
    .option(
      "--program <image=command>",
      "containers of that image run this command of this machine; can be given again",
      several,
    )
    .option(
      "--host-port <image=port>",
      "that program listens on this port of this machine itself, which stands for the same port of its pods; can be given again",
      several,
    )
    .option("--strict-images", "refuse images that are not registered: ErrImagePull; without it, they seem to run")
    .option("--image <image>", "register an image: its containers seem to run; can be given again", several)
    .option("--background", "return when the cluster is ready; end it with `konverge down`")
    .option("--reuse", "if a cluster of that name runs already, return at once")
    .addHelpText(
      "after",
      "\nWhat is simulated: nodes and containers, unless they are real. Everything that goes through the API is real.\nFor example: konverge up --background\n             sudo npx konverge up --real-nodes 2",
    )
    .action(async ({ background, reuse, ...given }: UpOptions & { background?: boolean; reuse?: boolean }) => {
      const isChosen = (name: string) => up.getOptionValueSource(name) === "cli";
      const simulated = { ...(!isChosen("nodes") && { nodes: 0 }), ...(!isChosen("gpus") && { gpus: "none" }) };
      const options: UpOptions = given.realNodes ? { ...given, ...simulated } : given;
      const { summary } = await import("../up/summary.ts");
      const { isRunning, notedCluster } = await import("../up/running-clusters.ts");
      const running = reuse ? notedCluster(options.name) : undefined;
      if (running && (await isRunning(running))) return console.log(summary(running, true));
      if (background) {
        const { upInBackground } = await import("../up/background.ts");
        const args = process.argv
          .slice(process.argv.indexOf("up") + 1)
          .filter((arg) => !["--background", "--reuse"].includes(arg));
        console.log(summary(await upInBackground(options.name, args), true));
        return;
      }
      const { up: start } = await import("../up/up.ts");
      // Real nodes take seconds to start, and outlive a process that is killed: it ends as soon as they can be removed.
      const stopping = stopOnSignals();
      const started = await start(options);
      console.log(summary(started.noted, false));
      // Whoever started it in the background waits for this.
      process.send?.("ready");
      const stop = () => void started.stop().then(() => process.exit(0), fail);
      stopping.addEventListener("abort", stop);
      if (stopping.aborted) stop();
      // By default it opens a debugger, which a program of a pod could then connect to.
      process.on("SIGUSR1", () => {});
    });
  const down = new Command("down")
    .description("end a cluster that `konverge up` started")
    .addOption(new Option("--name <name>", "the cluster").default("konverge"))
    .option("--all", "end all of them")
    .action(async ({ name, all }: { name: string; all?: boolean }) => {
      const { down: end, graceSeconds } = await import("../up/background.ts");
      const { notedNames } = await import("../up/running-clusters.ts");
      const { clustersWithNodes } = await import("../up/nodes-folder.ts");
      for (const one of all ? new Set([...notedNames(), ...clustersWithNodes()]) : [name]) {
        const grace = graceSeconds(one);
        const ended = await end(one, realClock());
        if (ended === "killed") {
          console.log(`cluster ${one} did not end within ${grace} seconds: its process was killed`);
        } else console.log(ended ? `cluster ${one} has ended` : `no cluster named ${one} runs`);
      }
    });
  return [up, down];
}

/** `konverge envtest`, and what its launchers call. */
export function envtestCommands(): Command[] {
  return [
    new Command("envtest")
      .description("print a folder for KUBEBUILDER_ASSETS, with which envtest suites run on the embedded cluster")
      .option("--controllers", "run the built-in controllers, the scheduler and simulated nodes as well")
      .option("--no-strict-images", "let containers of any image seem to run; without it, only of registered images")
      .option("--image <image>", "register an image: its containers seem to run; can be given again", several)
      .option("--folder <path>", "where to put it; without it, in your home")
      .addHelpText("after", '\nFor example: KUBEBUILDER_ASSETS="$(konverge envtest)" go test ./...')
      .action(async ({ controllers = false, strictImages, image: images = [], folder }: EnvtestFlags) => {
        const { writeAssets } = await import("../envtest/assets.ts");
        const place = folder === undefined ? {} : { folder: resolve(folder) };
        console.log(writeAssets({ controllers, anyImage: !strictImages, images, ...place }));
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
      await runEnvtestApiServer(flags, { controllers, strictImages, images });
    });
}

interface EnvtestFlags {
  controllers?: boolean;
  strictImages: boolean;
  image?: readonly string[];
  folder?: string;
}

function several(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
