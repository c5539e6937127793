import { Command } from "commander";
import { UsageError } from "../usage-error.ts";

interface ImageLoadOptions {
  readonly name: string;
  readonly image?: string;
}

/** `konverge image load`. */
export function imageCommand(): Command {
  const load = new Command("load")
    .description("load images into the real nodes of a cluster that `konverge up` started, without a registry")
    .argument("<source>", "a Docker or OCI archive, or a folder with a Dockerfile")
    .option("--name <name>", "the cluster", "konverge")
    .option("--image <image>", "the name of the image that is built from a folder")
    .addHelpText("after", "\nFor example: konverge image load . --image example/operator:v1")
    .action(async (source: string, { name: cluster, image }: ImageLoadOptions) => {
      const { isRunning, notedCluster } = await import("../up/running-clusters.ts");
      const noted = notedCluster(cluster);
      if (!noted || !(await isRunning(noted))) {
        throw new UsageError(`no cluster named ${cluster} runs: start one with "konverge up --name ${cluster}"`);
      }
      const { connectToCluster } = await import("../cluster-connection.ts");
      const { loadImage } = await import("../image/load-image.ts");
      await using client = await connectToCluster({ kubeconfig: noted.kubeconfig, context: cluster });
      const tell = (text: string) => console.log(text);
      await loadImage(source, client, { cluster, ...(image !== undefined && { image }), tell });
    });
  return new Command("image").description("images of a cluster's nodes").addCommand(load);
}
