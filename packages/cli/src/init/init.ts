import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { UsageError } from "../usage-error.ts";
import { copyChart, kindOfChart, readChartFile } from "./chart-file.ts";
import { helmProjectFiles } from "./helm-project-files.ts";
import { apiOf, checkedDomain, checkedProjectName } from "./names.ts";
import { writeNewFiles } from "./new-files.ts";
import { nodeOnPath } from "./node-on-path.ts";
import { packagesFor } from "./packages.ts";
import { NODE, projectFiles } from "./project-files.ts";

export interface InitOptions {
  readonly domain: string;
  readonly group: string;
  readonly version: string;
  /** Default: `Greeting`, or the name of the chart. False: the project begins without a kind. */
  readonly kind?: string | false | undefined;
  /** A Helm chart that the operator is made of. */
  readonly helm?: string | undefined;
  /** A folder with tarballs of Konverge's packages. */
  readonly packages?: string;
  /** Install the packages. */
  readonly install: boolean;
  /** Where commands are found. */
  readonly path: string | undefined;
  /** The version of this command. */
  readonly ownVersion: string;
  tell(text: string): void;
}

/** Writes a new project into a folder of its name, and installs its packages. */
export function init(path: string, options: InitOptions): void {
  const folder = resolve(path);
  const name = checkedProjectName(basename(folder));
  if (existsSync(folder) && readdirSync(folder).some((entry) => entry !== ".git")) {
    throw new UsageError(
      `${path} is not empty: choose another name, or add a kind to the project in it with: npx konverge create api`,
    );
  }
  const domain = checkedDomain(options.domain);
  if (options.kind === false && options.helm !== undefined) {
    throw new UsageError(
      "--no-kind and --helm exclude each other: the operator of a chart has the kind of its releases",
    );
  }
  const chart = options.helm === undefined ? undefined : readChartFile(options.helm);
  const packages = packagesFor(options.packages, options.ownVersion, chart !== undefined);
  const found = nodeOnPath(options.path);
  const bringsNode = found !== undefined && found < NODE;
  const project = { name, domain, packages, bringsNode };
  const kind = options.kind ?? (chart ? kindOfChart(chart.name) : "Greeting");
  const api = kind === false ? undefined : apiOf({ ...options, kind }, domain);
  const files = chart && api ? helmProjectFiles({ ...project, api }, chart) : projectFiles({ ...project, api });
  writeNewFiles(folder, files, options.tell);
  if (chart) copyChart(chart, folder, options.tell);
  for (const tarball of packages.tarballs) {
    mkdirSync(join(folder, "vendor"), { recursive: true });
    copyFileSync(tarball, join(folder, "vendor", basename(tarball)));
    options.tell(`vendor/${basename(tarball)} copied from ${tarball}`);
  }
  if (options.install) install(folder);
  if (bringsNode) {
    options.tell(
      `\nThe node on your PATH is Node ${found}, and a project needs Node ${NODE} or newer: its package.json has node@${NODE}, which npm start, npm test and npx konverge use`,
    );
  }
  options.tell(`\n${name} is ready. Next:\n\n  cd ${path}`);
  if (!options.install) options.tell("  npm install");
  if (!api) options.tell(EMPTY_COMMANDS);
  else options.tell(chart ? HELM_COMMANDS : COMMANDS);
}

const DEV = "  npm run dev      # a cluster with the operator and the samples; save a file, and see what changes";
const COMMANDS = `  npm start        # the operator with a sample on an embedded cluster
  npm test         # also with crashes and failing requests
${DEV}`;
const EMPTY_COMMANDS = `  npx konverge create api --group GROUP --version v1alpha1 --kind KIND   # its first kind
${DEV}`;
const HELM_COMMANDS = `${DEV}
  npm test         # the sample converges; npm run explore does so with crashes and failing requests`;

function install(folder: string): void {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { status } = spawnSync(npm, ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new UsageError(`npm install failed in ${folder}, see above: fix that and run it again there`);
}
