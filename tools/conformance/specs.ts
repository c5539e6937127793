import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runE2e } from "./e2e-process.ts";

/** One spec of Kubernetes. */
export interface Spec {
  /** Its whole text, as Ginkgo matches it: containers and leaf, joined by blanks. */
  readonly name: string;
  /** The special interest group that owns it: `api-machinery`. */
  readonly sig: string;
  /** What it is about: the outermost container, without the sig. */
  readonly area: string;
  /** Must not run beside others. */
  readonly serial: boolean;
}

/** The parts of Ginkgo's JSON report that are read here. */
export interface GinkgoReport {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeType: string;
    readonly LeafNodeText: string;
    readonly State: string;
  }[];
}

/** The conformance specs. */
export const CONFORMANCE: SpecFilter = { focus: "\\[Conformance\\]" };
/**
 * Specs that are no conformance specs and need nothing special. Those of storage drivers are left out: they mount the real
 * file systems of a driver that they deploy.
 */
export const HELD_OUT: SpecFilter = {
  skip: "\\[(Conformance|Slow|Serial|Disruptive|Flaky|Feature(Gate)?:[^\\]]*|Driver: [^\\]]*)\\]",
};

/** Which specs are listed: Go regular expressions of their names. */
export interface SpecFilter {
  readonly focus?: string;
  readonly skip?: string;
}

/** The images that the specs of a build of e2e.test use. */
export async function listImages(e2e: string): Promise<string[]> {
  const { output, code } = await runE2e(e2e, tmpdir(), { flags: ["--list-images"], limitSeconds: 60 });
  if (code !== 0) throw new Error(`e2e.test could not list its images (exit code ${code}):\n${output.slice(-3000)}`);
  return output.split("\n").filter((line) => /^[a-z0-9.-]+\/\S+:\S+$/.test(line));
}

/** The specs that a build of e2e.test has, found by its dry run. */
export async function listSpecs(e2e: string, { focus, skip }: SpecFilter = CONFORMANCE): Promise<Spec[]> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-conformance-"));
  try {
    const report = join(folder, "report.json");
    const { output, code } = await runE2e(e2e, folder, {
      flags: [
        "--ginkgo.dry-run",
        ...(focus === undefined ? [] : [`--ginkgo.focus=${focus}`]),
        ...(skip === undefined ? [] : [`--ginkgo.skip=${skip}`]),
        `--ginkgo.json-report=${report}`,
      ],
      limitSeconds: 300,
    });
    if (code !== 0) throw new Error(`e2e.test could not list its specs (exit code ${code}):\n${output.slice(-3000)}`);
    return specsOf(JSON.parse(readFileSync(report, "utf8")) as GinkgoReport[]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The specs of a report that its filters did not skip, by name. */
export function specsOf(reports: readonly GinkgoReport[]): Spec[] {
  const specs: Spec[] = [];
  for (const { SpecReports } of reports) {
    for (const { ContainerHierarchyTexts, LeafNodeType, LeafNodeText, State } of SpecReports) {
      if (LeafNodeType !== "It" || State === "skipped" || State === "pending") continue;
      const containers = ContainerHierarchyTexts ?? [];
      specs.push(specOf(containers, fullText(containers, LeafNodeText)));
    }
  }
  return specs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The names of the specs that ran and passed. */
export function passedIn(reports: readonly GinkgoReport[]): Set<string> {
  const all = reports.flatMap(({ SpecReports }) => SpecReports ?? []);
  return new Set(
    all
      .filter(({ LeafNodeType, State }) => LeafNodeType === "It" && State === "passed")
      .map(({ ContainerHierarchyTexts, LeafNodeText }) => fullText(ContainerHierarchyTexts ?? [], LeafNodeText)),
  );
}

/** As Ginkgo matches it: texts that are empty are left out. */
function fullText(containers: readonly string[], leaf: string): string {
  return [...containers, leaf].filter((text) => text !== "").join(" ");
}

function specOf(containers: readonly string[], name: string): Spec {
  const outermost = containers[0] ?? name;
  const sig = /\[sig-([a-z-]+)\]/.exec(name)?.[1] ?? "none";
  const area = outermost.replaceAll(/\[[^\]]*\]/g, "").trim();
  return { name, sig, area: area === "" ? sig : area, serial: name.includes("[Serial]") };
}
