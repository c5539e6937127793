import type { Duplex } from "node:stream";
import type { Process } from "@konverge/cluster";
import { sleep } from "@konverge/core";

/** How long it waits between the end of what it sends and the end of the connection, in milliseconds. */
const LINGER = 500;

/** `agnhost port-forward-tester`: accepts one connection, compares what it receives, and sends what its environment asks for. */
export async function portForwardTester(process: Process): Promise<number> {
  const { env, network, clock, signal, label, stdout } = process;
  const pause = (ms: number) => sleep(clock, ms, { signal, label });
  const accepted = Promise.withResolvers<Duplex>();
  const stop = network.listen(Number(env["BIND_PORT"]), (connection) => accepted.resolve(connection));
  const connection = await accepted.promise;
  stop();
  stdout("Accepted client connection\n");
  const expected = env["EXPECTED_CLIENT_DATA"] ?? "";
  if (expected !== "") {
    const received = await firstChunk(connection);
    if (received.length !== expected.length) {
      const why = received.length === 0 ? "EOF" : "<nil>";
      stdout(`Expected to read ${expected.length} bytes from client, but got ${received.length} instead. err=${why}\n`);
      return 2;
    }
    if (received !== expected) {
      stdout(`Expect to read "${expected}", but got "${received}". err=<nil>\n`);
      return 3;
    }
    stdout("Received expected client data\n");
  }
  const [chunks, size, interval] = ["CHUNKS", "CHUNK_SIZE", "CHUNK_INTERVAL"].map((name) => Number(env[name]));
  for (let i = 0; i < chunks!; i++) {
    if (i > 0) await pause(interval!);
    connection.write("x".repeat(size!));
  }
  stdout("Shutting down connection\n");
  connection.end();
  await pause(LINGER);
  stdout("Done\n");
  return 0;
}

/** What one read returns: what has come, or nothing at the end. */
function firstChunk(connection: Duplex): Promise<string> {
  return new Promise((resolve) => {
    connection.once("data", (chunk) => resolve(String(chunk)));
    for (const end of ["end", "close", "error"]) connection.once(end, () => resolve(""));
  });
}
