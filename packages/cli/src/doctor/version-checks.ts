import type { Client } from "@konverge/client";
import { type CustomResourceDefinition, Node } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import type { CrdObject } from "@konverge/schema";
import { definitionDifferences } from "../definition/definition-differences.ts";
import { listed } from "./examined-objects.ts";
import type { Finding } from "./finding.ts";

/** The oldest Kubernetes that Konverge supports. */
const OLDEST = 31;
/** How many minor versions a kubelet may be behind its API server. */
const KUBELET_SKEW = 3;
const SHOWN = 3;

/** Versions that do not fit together: of server, nodes, CRDs and the project's definitions. */
export async function versionFindings(
  client: Client,
  crds: readonly CustomResourceDefinition[],
  operators: readonly Operator[],
): Promise<Finding[]> {
  const { gitVersion } = await client.version();
  const server = minorOf(gitVersion);
  return [
    ...serverFindings(server, gitVersion),
    ...(await listed(client, Node)).flatMap((node) => {
      const version = node.status?.nodeInfo?.kubeletVersion ?? "";
      const minor = minorOf(version);
      if (minor === undefined || server === undefined || (minor <= server && minor >= server - KUBELET_SKEW)) return [];
      const isNewer = minor > server;
      return [
        finding(
          `Node ${node.metadata.name}`,
          `its kubelet is ${version}, ${isNewer ? "newer than" : `more than ${KUBELET_SKEW} minor versions behind`} the API server's ${gitVersion}`,
          isNewer ? "Upgrade the control plane first." : "Upgrade the kubelet of this node.",
        ),
      ];
    }),
    ...crds.flatMap(storedFindings),
    ...operators.flatMap((operator) => definitionFindings(operator, crds)),
  ];
}

function serverFindings(minor: number | undefined, version: string): Finding[] {
  if (minor === undefined || minor >= OLDEST) return [];
  return [
    finding(
      "API server",
      `it is Kubernetes ${version}, older than 1.${OLDEST}`,
      "Upgrade the cluster: Konverge is not tested with it.",
    ),
  ];
}

/** Objects may still be stored in a version that is no longer the stored one: it cannot be removed from the CRD until then. */
function storedFindings({ metadata, spec, status }: CustomResourceDefinition): Finding[] {
  const current = spec.versions.find(({ storage }) => storage)?.name;
  const old = (status?.storedVersions ?? []).filter((version) => version !== current);
  if (old.length === 0) return [];
  return [
    finding(
      `CustomResourceDefinition ${metadata.name}`,
      `objects may still be stored as ${old.join(", ")}, though the stored version is ${current}`,
      `Rewrite them: npx konverge migrate-storage ${metadata.name}`,
    ),
  ];
}

function definitionFindings({ name, kinds }: Operator, crds: readonly CustomResourceDefinition[]): Finding[] {
  return kinds.flatMap((kind) => {
    const crd = crds.find(({ metadata }) => metadata.name === `${kind.plural}.${kind.group}`);
    const object = `CustomResourceDefinition ${kind.plural}.${kind.group}`;
    if (!crd) return [finding(object, `it is not installed, and ${name} needs it`, "Install it: npx konverge install")];
    const own = kind.crd({ conversionWebhook: { url: "https://unused.invalid" } }) as unknown as CrdObject;
    const differences = definitionDifferences(own, crd as unknown as CrdObject);
    if (differences.length === 0) return [];
    const more = differences.length > SHOWN ? `, and ${differences.length - SHOWN} more` : "";
    return [
      finding(
        object,
        `it is not the one of this project: ${differences.slice(0, SHOWN).join("; ")}${more}`,
        "Install the project's: npx konverge install",
      ),
    ];
  });
}

const finding = (object: string, problem: string, fix: string): Finding => ({
  check: "versions",
  object,
  problem,
  fix,
});

function minorOf(version: string): number | undefined {
  const [, minor] = /^v?1\.(\d+)/.exec(version) ?? [];
  return minor === undefined ? undefined : Number(minor);
}
