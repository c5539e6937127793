import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runE2e } from "./e2e-process.ts";

/** One conformance spec. */
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

/** All conformance specs that a build of e2e.test has, found by its dry run. */
export async function listSpecs(e2e: string): Promise<Spec[]> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-conformance-"));
  try {
    const report = join(folder, "report.json");
    const { output, code } = await runE2e(e2e, folder, {
      flags: ["--ginkgo.dry-run", "--ginkgo.focus=\\[Conformance\\]", `--ginkgo.json-report=${report}`],
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
      specs.push(specOf(containers, [...containers, LeafNodeText].join(" ")));
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
      .map(({ ContainerHierarchyTexts, LeafNodeText }) => [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ")),
  );
}

function specOf(containers: readonly string[], name: string): Spec {
  const outermost = containers[0] ?? name;
  const sig = /\[sig-([a-z-]+)\]/.exec(name)?.[1] ?? "none";
  const area = outermost.replaceAll(/\[[^\]]*\]/g, "").trim();
  return { name, sig, area: area === "" ? sig : area, serial: name.includes("[Serial]") };
}
