// Fields that a version knows but does not store, because their feature gate is off unless someone turns it on.
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Each such field of the stable kinds, with its gate: `core.v1.PodSpec.schedulingGroup`. */
export function disabledFields(
  kubernetes: string,
  folders: { kubernetes: string; api: string },
): Record<string, string> {
  const off = gatesThatAreOff(kubernetes, folders.kubernetes);
  const used = gatesOfServer(folders.kubernetes);
  const disabled: Record<string, string> = {};
  for (const file of globSync("*/v[0-9]/types.go", { cwd: folders.api }).sort()) {
    const group = `${basename(dirname(dirname(file)))}.${basename(dirname(file))}`;
    for (const { field, gate } of gatedFields(readFileSync(join(folders.api, file), "utf8"))) {
      if (off.has(gate) && used.has(gate)) disabled[`${group}.${field}`] = gate;
    }
  }
  return disabled;
}

function gatesThatAreOff(kubernetes: string, folder: string): Set<string> {
  const file = join(folder, "test/compatibility_lifecycle/reference/versioned_feature_list.yaml");
  const minor = Number(kubernetes.split(".")[1]);
  return gatesOff(readFileSync(file, "utf8"), minor);
}

/** Of the generated list, which has one setting a line: the last one up to the version counts. */
export function gatesOff(list: string, minor: number): Set<string> {
  const off = new Set<string>();
  let name = "";
  let isOn = "";
  for (const line of list.split("\n")) {
    name = /^- name: (\w+)$/.exec(line)?.[1] ?? name;
    isOn = /^ +(?:- )?default: (true|false)$/.exec(line)?.[1] ?? isOn;
    const since = /^ +version: "1\.(\d+)"$/.exec(line)?.[1];
    if (since === undefined || Number(since) > minor) continue;
    if (isOn === "false") off.add(name);
    else off.delete(name);
  }
  return off;
}

/** A gate that only the kubelet or the scheduler asks about does not keep its field from being stored. */
function gatesOfServer(folder: string): Set<string> {
  const used = new Set<string>();
  for (const file of globSync("pkg/{api,apis,registry}/**/*.go", { cwd: folder })) {
    if (file.endsWith("_test.go")) continue;
    for (const [, gate] of readFileSync(join(folder, file), "utf8").matchAll(/\bfeatures\.([A-Z]\w+)/g))
      used.add(gate!);
  }
  return used;
}

/** The fields with a tag `+featureGate=` in their comment. */
export function gatedFields(source: string): { field: string; gate: string }[] {
  const found: { field: string; gate: string }[] = [];
  let struct = "";
  let gates: string[] = [];
  for (const line of source.split("\n")) {
    struct = /^type (\w+) struct\b/.exec(line)?.[1] ?? struct;
    const gate = /^\s*\/\/ \+featureGate=(\w+)/.exec(line)?.[1];
    if (gate) gates.push(gate);
    if (/^\s*\/\//.test(line)) continue;
    const name = /\bjson:"(\w+)/.exec(line)?.[1];
    if (name) for (const one of gates) found.push({ field: `${struct}.${name}`, gate: one });
    gates = [];
  }
  return found;
}
