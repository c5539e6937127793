import { UsageError } from "../usage-error.ts";

/** The API that files are written for. */
export interface Api {
  /** `ml.example.com`. */
  readonly group: string;
  /** `v1alpha1`. */
  readonly version: string;
  /** `TrainingJob`. */
  readonly kind: string;
}

/** Files of every project beside those of its kinds. */
const OWN_FILES = ["operator", "apis", "start"];
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

/** An API from what a command line says; a group without a dot is below the project's domain. */
export function apiOf({ group, version, kind }: Api, domain: string): Api {
  const full = group === "" ? domain : group.includes(".") ? group : `${group}.${domain}`;
  if (!DOMAIN.test(full)) {
    throw new UsageError(
      `--group ${group} is not an API group: use a domain, such as ml.example.com, or a word, such as ml`,
    );
  }
  checkedVersion(version);
  checkedKind(kind);
  if (OWN_FILES.includes(fileName(kind))) {
    throw new UsageError(
      `--kind ${kind} would overwrite src/${fileName(kind)}.ts, a file of the project: choose another name`,
    );
  }
  return { group: full, version, kind };
}

/** An API version, as `--version` names it. */
export function checkedVersion(version: string): string {
  if (/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(version)) return version;
  throw new UsageError(`--version ${version} is not an API version: use v1alpha1, v1beta1, v1 or the like`);
}

/** A kind, as `--kind` names it. */
export function checkedKind(kind: string): string {
  if (/^[A-Z][A-Za-z0-9]{0,61}$/.test(kind)) return kind;
  throw new UsageError(
    `--kind ${kind} is not the name of a kind: use a singular noun in CamelCase, such as TrainingJob`,
  );
}

/** The name of a project, which its operator has too: it names folders, packages and objects. */
export function checkedProjectName(name: string): string {
  if (/^[a-z][-a-z0-9]{0,50}[a-z0-9]$/.test(name)) return name;
  throw new UsageError(
    `${JSON.stringify(name)} is not the name of a project: use lower-case letters, digits and dashes, such as cache-operator`,
  );
}

/** The domain of a project's groups. */
export function checkedDomain(domain: string): string {
  if (DOMAIN.test(domain)) return domain;
  throw new UsageError(`--domain ${domain} is not a domain: use one with a dot, such as example.com`);
}

/** `cache-operator` → `cacheOperator`, `cache` → `cacheOperator`; `operator`, whose name is taken, → `myOperator`. */
export function operatorConstant(project: string): string {
  const words = project
    .replace(/(^|-)operator$/, "")
    .split("-")
    .filter(Boolean);
  if (words.length === 0) return "myOperator";
  return `${words.map((word, i) => (i === 0 ? word : upperFirst(word))).join("")}Operator`;
}

/** `TrainingJob` → `trainingJobController`. */
export const controllerConstant = (kind: string): string => `${lowerFirst(kind)}Controller`;

/** `TrainingJob` → `trainingJobAdmission`. */
export const admissionConstant = (kind: string): string => `${lowerFirst(kind)}Admission`;

/** `TrainingJob` and `v1beta1` → `trainingJobV1beta1`. */
export const versionConstant = (kind: string, version: string): string => `${lowerFirst(kind)}${upperFirst(version)}`;

/** `TrainingJob` → `training-job`, `HTTPRoute` → `http-route`: names of files. */
export function fileName(kind: string): string {
  return kind
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1-$2")
    .toLowerCase();
}

const upperFirst = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
const lowerFirst = (word: string) => word.charAt(0).toLowerCase() + word.slice(1);
