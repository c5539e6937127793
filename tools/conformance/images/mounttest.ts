import { FileError, type Process } from "@konverge/cluster";
import { sleep } from "@konverge/core";
import { flagsOf } from "./serve.ts";

const INITIAL = "mount-tester new file\n";
const TMPFS = "tmpfs";
/** How a file system that is none in memory is named: by the magic number of ext4. */
const EXT4 = "61267";

/** `agnhost mounttest`: creates files and prints their properties. */
export async function mounttest(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const files = process.files.withUmask(0);
  let failed = false;
  const attempt = (flag: string, what: (path: string) => string, work: (path: string) => void) => {
    const path = flags.get(flag);
    if (!path) return;
    try {
      work(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      process.stdout(`error ${what(path)}: ${goWords(error)}\n`);
      failed = true;
    }
  };
  const printContent = (path: string) => process.stdout(`content of file "${path}": ${files.readText(path)}\n`);
  attempt(
    "fs_type",
    (path) => `from statfs("${path}")`,
    (path) => {
      const { mountType } = files.stat(path);
      process.stdout(`mount type of "${path}": ${mountType === TMPFS ? TMPFS : EXT4}\n`);
    },
  );
  for (const mode of [0o644, 0o666, 0o660, 0o777]) {
    attempt(
      `new_file_0${mode.toString(8)}`,
      (path) => `writing new file "${path}"`,
      (path) => {
        files.write(path, INITIAL, { mode });
        printContent(path);
      },
    );
  }
  attempt(
    "file_mode",
    (path) => `from Stat("${path}")`,
    (path) => {
      const { kind, mode } = files.stat(path);
      process.stdout(`mode of file "${path}": ${goMode(kind, mode)}\n`);
    },
  );
  attempt(
    "file_perm",
    (path) => `from Stat("${path}")`,
    (path) => process.stdout(`perms of file "${path}": ${goMode("file", files.stat(path).mode & 0o777)}\n`),
  );
  attempt(
    "file_owner",
    (path) => `from stat("${path}")`,
    (path) => {
      const { uid, gid } = files.stat(path);
      process.stdout(`owner UID of "${path}": ${uid}\nowner GID of "${path}": ${gid}\n`);
    },
  );
  attempt("file_content", (path) => `reading file content for "${path}"`, printContent);
  const looped = flags.get("file_content_in_loop");
  if (looped) await readInLoop(process, looped, flags);
  return failed ? 1 : 0;
}

async function readInLoop(process: Process, path: string, flags: ReadonlyMap<string, string>): Promise<void> {
  const { files, clock, signal, label, stdout } = process;
  const end = clock.monotonic() + Number(flags.get("retry_time") ?? 180) * 1000;
  const breaks = flags.get("break_on_expected_content") !== "false";
  while (clock.monotonic() < end) {
    try {
      const content = files.readText(path);
      stdout(`content of file "${path}": ${content}\n`);
      if (breaks && content === INITIAL) return;
      if (breaks) stdout(`Unexpected content. Expected: ${INITIAL}. Retrying\n`);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      stdout(`Error reading file ${path}: ${goWords(error)}, retrying\n`);
    }
    await sleep(clock, 2000, { signal, label });
  }
}

/** Go prints special bits before the permissions. */
function goMode(kind: string, mode: number): string {
  const permissions = [..."rwxrwxrwx"].map((letter, index) => (mode & (0o400 >> index) ? letter : "-")).join("");
  const special = `${kind === "directory" ? "d" : ""}${mode & 0o2000 ? "g" : ""}${mode & 0o4000 ? "u" : ""}${mode & 0o1000 ? "t" : ""}`;
  return `${special === "" ? "-" : special}${permissions}`;
}

function goWords({ path, message }: FileError): string {
  return `open ${path}: ${message.toLowerCase()}`;
}
