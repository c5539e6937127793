// The Go types of a version, read from their source: enough for types that are written in the narrow form of API types.
// `npm run facts -- --kubernetes` checks it with the default version, whose facts come from compiled types.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GoDefinition, GoField } from "./go-facts.ts";

/** A struct as it is written: fields in order, types unresolved. */
interface SourceField {
  /** Undefined for an embedded struct. */
  json: string | undefined;
  type: string;
  tag: string;
}

interface Package {
  /** `core.v1`. */
  file: string;
  structs: Map<string, SourceField[]>;
  /** Named types that are no structs: `ResourceList` is `map[ResourceName]resource.Quantity`. */
  named: Map<string, { type: string; isMessage: boolean }>;
  /** Packages by the name that this one uses: `metav1` is `meta.v1`. */
  imports: Map<string, string>;
}

/** Reads the packages in these folders, by the file of their definitions, such as `core.v1`. */
export class GoSource {
  readonly #packages = new Map<string, Package>();
  /** Definitions with their own JSON form. */
  readonly #custom: ReadonlySet<string>;

  constructor(folders: Readonly<Record<string, string>>, custom: ReadonlySet<string>) {
    for (const [file, folder] of Object.entries(folders)) this.#packages.set(file, readPackage(file, folder));
    this.#custom = custom;
  }

  /** Undefined where there is no such struct. */
  definition(name: string): GoDefinition | undefined {
    if (this.#custom.has(name)) return { custom: true };
    const at = name.lastIndexOf(".");
    const own = this.#packages.get(name.slice(0, at));
    if (!own) return undefined;
    // A type that is another's under another name, such as core.v1.List.
    const same = own.named.get(name.slice(at + 1))?.type;
    const [home, struct] = same === undefined ? [own, name.slice(at + 1)] : this.#resolve(own, same);
    const fields = home.structs.get(struct);
    if (!fields) return undefined;
    return fields.length > 0 ? { fields: this.#fields(home, fields, []) } : {};
  }

  /** Fields of embedded structs are fields of the struct; `within` has the numbers on the way to them, if protobuf has any. */
  #fields(own: Package, fields: readonly SourceField[], within: number[] | undefined): GoField[] {
    return fields.flatMap(({ json, type, tag }): GoField[] => {
      const options = (/json:"([^"]*)"/.exec(tag)?.[1] ?? "").split(",");
      const protobuf = /protobuf:"(\w+),(\d+)/.exec(tag);
      const proto = within && protobuf ? [...within, Number(protobuf[2])] : undefined;
      const isPointer = type.startsWith("*");
      if (json === undefined) {
        const [home, name] = this.#resolve(own, type.replace(/^\*/, ""));
        return this.#fields(home, home.structs.get(name) ?? [], proto);
      }
      const strategy = /patchStrategy:"([^"]*)"/.exec(tag)?.[1];
      const key = /patchMergeKey:"([^"]*)"/.exec(tag)?.[1];
      return [
        {
          name: json,
          type: this.#typeName(own, type),
          ...(proto && { proto }),
          ...(options.includes("omitempty") && { omitEmpty: true }),
          ...(options.includes("omitzero") && { omitZero: true }),
          ...(isPointer && { pointer: true }),
          ...(strategy && { patchStrategy: strategy }),
          ...(key && { patchMergeKey: key }),
        },
      ];
    });
  }

  #resolve(own: Package, type: string): [home: Package, name: string] {
    const [qualifier, name] = type.includes(".") ? (type.split(".") as [string, string]) : [undefined, type];
    const file = qualifier === undefined ? own.file : (own.imports.get(qualifier) ?? qualifier);
    const home = this.#packages.get(file);
    return [home ?? { file, structs: new Map(), named: new Map(), imports: new Map() }, name];
  }

  #typeName(own: Package, given: string): string {
    const type = given.replace(/^\*/, "");
    if (SCALARS.has(type)) return type;
    if (type === "[]byte") return "bytes";
    if (type.startsWith("[]")) return `[]${this.#typeName(own, type.slice(2))}`;
    const map = /^map\[[\w.]+\](.+)$/.exec(type)?.[1];
    if (map) return `map[]${this.#typeName(own, map)}`;
    const [home, name] = this.#resolve(own, type);
    const full = `${home.file}.${name}`;
    if (home.structs.has(name) || this.#custom.has(full)) return full;
    const named = home.named.get(name);
    // Names of strings of other packages, such as types.UID.
    if (!named) return "string";
    const underlying = this.#typeName(home, named.type);
    return named.isMessage && underlying.startsWith("[]") ? `items${underlying}` : underlying;
  }
}

const SCALARS = new Set(["string", "bool", "int32", "int64", "float64"]);

function readPackage(file: string, folder: string): Package {
  const read: Package = { file, structs: new Map(), named: new Map(), imports: new Map() };
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith(".go") || /_test\.go$|^zz_generated|^generated\.pb|_swagger_doc_/.test(name)) continue;
    readSource(readFileSync(join(folder, name), "utf8"), read);
  }
  return read;
}

function readSource(source: string, into: Package): void {
  let struct: SourceField[] | undefined;
  let comment = "";
  let isComment = false;
  for (const line of source.split("\n")) {
    if (isComment || /^\s*\/\*/.test(line)) {
      isComment = !line.includes("*/");
      continue;
    }
    if (/^\s*\/\//.test(line)) {
      comment += `${line}\n`;
      continue;
    }
    const imported =
      /^\t(?:import )?(?:(\w+) )?"k8s\.io\/(?:api|apimachinery\/pkg\/apis|apimachinery\/pkg)\/([\w/]+)"$/.exec(line);
    if (imported) {
      const path = imported[2]!.split("/");
      const isVersion = /^v\d/.test(path.at(-1)!);
      into.imports.set(imported[1] ?? path.at(-1)!, isVersion ? path.slice(-2).join(".") : path.at(-1)!);
    }
    const opened = /^type (\w+) struct ?\{/.exec(line)?.[1];
    if (opened) {
      struct = [];
      if (!line.includes("}")) into.structs.set(opened, struct);
      else into.structs.set(opened, []);
      if (line.includes("}")) struct = undefined;
    } else if (line.startsWith("}")) struct = undefined;
    else if (struct) {
      const field = sourceField(line);
      if (field) struct.push(field);
    } else {
      const named = /^type (\w+) (?!struct|interface|func)([\w.[\]*]+)\s*(?:\/\/.*)?$/.exec(line);
      if (named) into.named.set(named[1]!, { type: named[2]!, isMessage: comment.includes("+protobuf.nullable=true") });
    }
    if (line.trim() !== "" || !struct) comment = line.trim() === "" ? comment : "";
  }
}

/** One line of a struct; undefined for one that is not in JSON. */
function sourceField(line: string): SourceField | undefined {
  const [, names = "", tag = ""] = /^\s+(.+?)\s+`(.*)`\s*(?:\/\/.*)?$/.exec(line) ?? [];
  const json = /json:"([^",]*)/.exec(tag)?.[1];
  if (names === "" || json === undefined || json === "-") return undefined;
  const [first, ...rest] = names.split(/\s+/);
  const type = rest.join("");
  if (type === "") return { json: json === "" ? undefined : json, type: first!, tag };
  return json === "" ? undefined : { json, type, tag };
}
