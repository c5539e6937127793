import { readFileSync } from "node:fs";
import type { Container } from "konverge/kinds";
import { parseYaml } from "konverge/schema";

/** How workers of a PyTorchJob wait until the name of their master is known. */
export interface WaitForMaster {
  /** Default: the image in which they train, which the node has to pull in any case. */
  readonly image: string | undefined;
  readonly maxTries: number;
  /** YAML of a list of containers that takes the place of the built-in one, with placeholders as upstream has them. */
  readonly template: string | undefined;
}

/** Reads the operator's settings; a template file that is not there is none. */
export function waitSettings(settings: Readonly<Record<string, string | undefined>>): WaitForMaster {
  const file = settings["pytorchInitContainerTemplateFile"];
  const maxTries = Number(settings["pytorchInitContainerMaxTries"] ?? 100);
  if (!Number.isInteger(maxTries) || maxTries < 1) {
    throw new TypeError("pytorchInitContainerMaxTries must be an integer above 0");
  }
  return {
    image: settings["pytorchInitContainerImage"],
    maxTries,
    template: file ? textOf(file) : undefined,
  };
}

/** ERR_ACCESS_DENIED: on an embedded cluster, operators cannot read files of the machine, and have none of an image. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ERR_ACCESS_DENIED"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}

/** The init containers of a worker. The built-in one may do what the container that trains may. */
export function waitContainers(
  { image: chosen, maxTries, template }: WaitForMaster,
  master: string,
  trains?: Pick<Container, "image" | "securityContext">,
): Container[] {
  const image = chosen ?? trains?.image ?? "";
  if (template !== undefined) return fromTemplate(template, { image, maxTries, master });
  const script = `for try in $(seq ${maxTries}); do getent hosts ${master} && exit 0; nslookup ${master} | grep "^Name:" && exit 0; echo waiting for ${master}; sleep 2; done; exit 1`;
  return [
    {
      name: "init-pytorch",
      image,
      imagePullPolicy: "IfNotPresent",
      resources: { limits: { cpu: "100m", memory: "20Mi" }, requests: { cpu: "50m", memory: "10Mi" } },
      command: ["sh", "-c", script],
      ...(trains?.securityContext && { securityContext: trains.securityContext }),
    },
  ];
}

function fromTemplate(template: string, values: { image: string; maxTries: number; master: string }): Container[] {
  const filled = template
    .replaceAll(/\{\{\s*\.MasterAddr\s*\}\}/g, values.master)
    .replaceAll(/\{\{\s*\.InitContainerImage\s*\}\}/g, values.image)
    .replaceAll(/\{\{\s*\.MaxTries\s*\}\}/g, String(values.maxTries));
  const [containers] = parseYaml(filled);
  if (!Array.isArray(containers)) throw new TypeError("the template of PyTorch's init containers is not a list");
  return containers as Container[];
}
