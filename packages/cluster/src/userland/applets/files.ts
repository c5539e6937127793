import { posix } from "node:path";
import { FileError } from "../file-error.ts";
import type { Command, Process } from "../process.ts";
import { Glob } from "../shell/pattern.ts";
import { argumentsOf } from "./arguments.ts";
import { dd } from "./dd.ts";
import { complain, forEach, pathOf } from "./failing.ts";
import { changedMode, modeText } from "./modes.ts";

const ls: Command = async (process) => {
  const { files, stdout } = process;
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const names = operands.length === 0 ? ["."] : operands;
  const line = (path: string, name: string) => {
    if (!flags.has("l") && !flags.has("n")) return `${name}\n`;
    const { mode, kind, uid, gid, size, changedAt } = files.stat(path, { follow: false });
    const date = new Date(changedAt).toISOString().slice(0, 16).replace("T", " ");
    const target = kind === "link" ? ` -> ${linkTarget(process, path)}` : "";
    return `${modeText(kind, mode)}    1 ${String(uid).padEnd(8)} ${String(gid).padEnd(8)} ${String(size).padStart(9)} ${date} ${name}${target}\n`;
  };
  return forEach(process, names, async (path, name) => {
    if (flags.has("d") || files.stat(path).kind !== "directory") return stdout(line(path, name));
    if (names.length > 1) stdout(`${name}:\n`);
    const children = files.list(path).filter((child) => flags.has("a") || flags.has("A") || !child.startsWith("."));
    for (const child of flags.has("a") ? [".", "..", ...children] : children) {
      await process.spend(visiting(path));
      await stdout(line(posix.join(path, child), child));
    }
  });
};

/** Steps of looking at something in a directory: the way there is longer the deeper it is. */
function visiting(path: string): number {
  return 1 + path.length / 64;
}

function linkTarget({ files }: Process, path: string): string {
  try {
    return files.linkTarget(path);
  } catch {
    return "?";
  }
}

const mkdir: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["m"]);
  const mode = flags.has("m") ? { mode: Number.parseInt(flags.get("m")!, 8) } : {};
  return forEach(process, operands, (path) => process.files.makeDirectory(path, { parents: flags.has("p"), ...mode }));
};

const rm: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const recursive = flags.has("r") || flags.has("R");
  return forEach(process, operands, (path) => {
    if (flags.has("f") && !hasEntry(process, path)) return;
    if (!recursive && process.files.stat(path, { follow: false }).kind === "directory")
      throw new FileError("EISDIR", path);
    process.files.remove(path, { recursive });
  });
};

function hasEntry({ files }: Process, path: string): boolean {
  try {
    files.stat(path, { follow: false });
    return true;
  } catch {
    return false;
  }
}

const mv: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const to = operands.at(-1) ?? "";
  return forEach(process, operands.slice(0, -1), (path, name) => {
    process.files.rename(path, pathOf(process, to));
    if (flags.has("v")) process.stdout(`'${name}' -> '${to}'\n`);
  });
};

const cp: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const recursive = flags.has("r") || flags.has("R") || flags.has("a");
  const target = pathOf(process, operands.at(-1) ?? "");
  const { files } = process;
  const copy = async (from: string, to: string) => {
    await process.spend(visiting(to));
    const { kind, mode } = files.stat(from);
    if (kind !== "directory") {
      files.write(to, files.read(from), { mode: mode & 0o777 });
      return;
    }
    if (!recursive) throw new FileError("EISDIR", from);
    files.makeDirectory(to, { parents: true });
    for (const child of files.list(from)) await copy(posix.join(from, child), posix.join(to, child));
  };
  return forEach(process, operands.slice(0, -1), async (path) => {
    const isInto = files.exists(target) && files.stat(target).kind === "directory";
    await copy(path, isInto ? posix.join(target, posix.basename(path)) : target);
  });
};

const touch: Command = async (process) => {
  const { operands } = argumentsOf(process.argv.slice(1), ["d", "t"]);
  return forEach(process, operands, (path) => process.files.touch(path));
};

const chmod: Command = async (process) => {
  const { flags, operands } = argumentsOf(
    process.argv.slice(1).map((word) => (/^-[rwx]/.test(word) ? `a${word}` : word)),
  );
  const [modeText = "", ...names] = operands;
  const { files } = process;
  const change = async (path: string) => {
    await process.spend(visiting(path));
    files.setMode(path, changedMode(files.stat(path).mode, modeText));
    if (!flags.has("R") || files.stat(path).kind !== "directory") return;
    for (const child of files.list(path)) {
      const within = posix.join(path, child);
      if (files.stat(within, { follow: false }).kind !== "link") await change(within);
    }
  };
  return forEach(process, names, change);
};

const chown: Command = async (process) => {
  const { operands } = argumentsOf(process.argv.slice(1));
  const [modeText = "", ...names] = operands;
  const [uid = "", gid = ""] = modeText.split(":");
  const number = (text: string) => (/^\d+$/.test(text) ? Number(text) : text === "root" ? 0 : undefined);
  return forEach(process, names, (path) => process.files.setOwner(path, number(uid), number(gid)));
};

const ln: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const [target = "", name = posix.basename(target)] = operands;
  const path = pathOf(process, name);
  return forEach(process, [name], () => {
    if (flags.has("f") && hasEntry(process, path)) process.files.remove(path);
    process.files.link(target, path);
  });
};

const stat: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["c"]);
  return forEach(process, operands, (path, name) => {
    const { mode, kind, uid, gid, size, changedAt } = process.files.stat(path, { follow: flags.has("L") });
    const values: Record<string, string> = {
      a: (mode & 0o7777).toString(8),
      A: modeText(kind, mode),
      u: String(uid),
      g: String(gid),
      s: String(size),
      n: name,
      Y: String(Math.floor(changedAt / 1000)),
      F: kind === "file" ? "regular file" : kind === "link" ? "symbolic link" : kind,
    };
    const format = flags.get("c") ?? "  File: %n\n  Size: %s\nAccess: (%a/%A)  Uid: %u   Gid: %g";
    process.stdout(`${format.replaceAll(/%([a-zA-Z])/g, (whole, letter: string) => values[letter] ?? whole)}\n`);
  });
};

const find: Command = async (process) => {
  const words = process.argv.slice(1);
  const start = words.findIndex((word) => word.startsWith("-"));
  const roots = start < 0 ? words : words.slice(0, start);
  const { flags } = argumentsOf(
    start < 0 ? [] : words.slice(start).map((word) => word.replace(/^-(?=[a-z]{2})/, "--")),
    ["name", "type", "maxdepth"],
  );
  const pattern = flags.has("name") ? new Glob(flags.get("name")!) : undefined;
  const type = { f: "file", d: "directory", l: "link" }[flags.get("type") ?? ""];
  const deepest = Number(flags.get("maxdepth") ?? Number.POSITIVE_INFINITY);
  const { files } = process;
  const visit = async (path: string, shown: string, depth: number) => {
    await process.spend(visiting(path));
    const { kind } = files.stat(path, { follow: depth === 0 });
    const isNamed = pattern ? await pattern.matches(posix.basename(path), process) : true;
    if ((!type || type === kind) && isNamed) await process.stdout(`${shown}\n`);
    if (kind !== "directory" || depth >= deepest) return;
    for (const child of files.list(path)) await visit(posix.join(path, child), posix.join(shown, child), depth + 1);
  };
  return forEach(process, roots.length === 0 ? ["."] : roots, (path, name) => visit(path, name, 0));
};

const readlink: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  return forEach(process, operands, (path) =>
    process.stdout(`${flags.has("f") ? process.files.realPath(path) : process.files.linkTarget(path)}\n`),
  );
};

const realpath: Command = async (process) =>
  forEach(process, process.argv.slice(1), (path) => process.stdout(`${process.files.realPath(path)}\n`));

const rmdir: Command = async (process) =>
  forEach(process, argumentsOf(process.argv.slice(1)).operands, (path) => process.files.remove(path));

const mktemp: Command = async (process) => {
  const { flags } = argumentsOf(process.argv.slice(1));
  const path = `/tmp/tmp.${process.clock.random.below(2 ** 31).toString(36)}`;
  try {
    if (flags.has("d")) process.files.makeDirectory(path, { mode: 0o700 });
    else process.files.write(path, "", { mode: 0o600 });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    complain(process, path, error);
    return 1;
  }
  process.stdout(`${path}\n`);
  return 0;
};

const mount: Command = async ({ argv, files, stdout }) => {
  const { flags } = argumentsOf(argv.slice(1), ["t"]);
  const wanted = flags.get("t");
  const all = [["/", { type: "overlay", readOnly: false }] as const, ...files.mounts];
  for (const [path, { type, readOnly }] of all) {
    if (wanted !== undefined && wanted !== type) continue;
    const source = type === "ext4" ? "/dev/sda1" : type;
    stdout(`${source} on ${path} type ${type} (${readOnly ? "ro" : "rw"},relatime)\n`);
  }
  return 0;
};

/** Commands that work on files. */
export const FILES: Readonly<Record<string, Command>> = {
  ls,
  mkdir,
  rmdir,
  rm,
  mv,
  cp,
  touch,
  chmod,
  chown,
  ln,
  stat,
  find,
  dd,
  readlink,
  realpath,
  mktemp,
  mount,
  sync: async () => 0,
  basename: async ({ argv, stdout }) => {
    stdout(`${posix.basename(argv[1] ?? "", argv[2])}\n`);
    return 0;
  },
  dirname: async ({ argv, stdout }) => {
    stdout(`${posix.dirname(argv[1] ?? "")}\n`);
    return 0;
  },
};
