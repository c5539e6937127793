import type { Client } from "@konverge/client";
import { UsageError } from "../usage-error.ts";
import { type DatabaseKey, databaseOf, keyText } from "./database-objects.ts";

/** The terminal, or what stands for one. */
export interface PsqlTerminal {
  readonly stdin: NodeJS.ReadableStream & Partial<Pick<NodeJS.ReadStream, "isTTY" | "setRawMode">>;
  readonly stdout: NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, "isTTY" | "columns" | "rows">>;
  readonly stderr: NodeJS.WritableStream;
}

export interface PsqlOptions {
  /** A standby in place of the primary. */
  readonly replica?: boolean;
  /** Further arguments of psql. */
  readonly args: readonly string[];
}

/** Runs psql as the superuser, by the server's socket: no password is needed. Returns its exit code. */
export async function psql(
  client: Client,
  key: DatabaseKey,
  { replica = false, args }: PsqlOptions,
  { stdin, stdout, stderr }: PsqlTerminal,
): Promise<number> {
  const pod = await serverFor(client, key, replica);
  const tty = Boolean(stdin.isTTY && stdout.isTTY);
  const command = ["psql", "-h", "/run/database", "-p", "5432", "-U", "postgres", ...args];
  const process = await client.exec(keyText({ ...key, name: pod }), command, {
    container: "database",
    stdin: true,
    tty,
  });
  const send = (chunk: Buffer) => process.write(chunk);
  const end = () => process.end();
  const resize = () => process.resize({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
  if (tty) {
    stdin.setRawMode?.(true);
    resize();
    stdout.on("resize", resize);
  }
  stdin.on("data", send).on("end", end);
  try {
    const outputs = [forward(process.stdout, stdout), ...(tty ? [] : [forward(process.stderr, stderr)])];
    const code = await process.exitCode;
    await Promise.all(outputs);
    return code;
  } finally {
    if (tty) stdin.setRawMode?.(false);
    stdout.off("resize", resize);
    stdin.off("data", send).off("end", end);
    stdin.pause();
  }
}

async function serverFor(client: Client, key: DatabaseKey, isReplica: boolean): Promise<string> {
  const { status } = await databaseOf(client, key);
  if (status?.engine !== undefined && status.engine !== "postgres")
    throw new UsageError(`Database ${key.name} runs ${status.engine}, which has no psql`);
  if (isReplica) {
    const standby = status?.servers?.find(({ role, ready }) => role === "standby" && ready);
    if (!standby) throw new UsageError(`Database ${key.name} has no standby that is ready: omit --replica`);
    return standby.name;
  }
  if (status?.currentPrimary === undefined)
    throw new UsageError(
      `no server of Database ${key.name} accepts writes now: see konverge database status ${key.name}`,
    );
  return status.currentPrimary;
}

async function forward(from: AsyncIterable<Uint8Array>, to: NodeJS.WritableStream): Promise<void> {
  for await (const chunk of from) {
    if (!to.write(chunk)) await new Promise<void>((resolve) => to.once("drain", () => resolve()));
  }
}
