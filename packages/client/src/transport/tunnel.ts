import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/**
 * A connection to `host:port` that goes through a proxy. Both the HTTP pool and WebSockets use it, so that a proxy works
 * for all verbs or for none.
 */
export async function tunnel(proxy: URL, host: string, port: number): Promise<Socket> {
  const socket = await toProxy(proxy);
  try {
    if (proxy.protocol.startsWith("socks5")) await askSocks(socket, proxy, host, port);
    else await askHttp(socket, proxy, host, port);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function toProxy(proxy: URL): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const secure = proxy.protocol === "https:";
  const port = Number(proxy.port) || (secure ? 443 : proxy.protocol === "http:" ? 80 : 1080);
  return new Promise((resolve, reject) => {
    const socket = secure ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
    socket.once("error", reject);
    socket.once(secure ? "secureConnect" : "connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

async function askHttp(socket: Socket, proxy: URL, host: string, port: number): Promise<void> {
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (proxy.username) {
    const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(login).toString("base64")}`);
  }
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const head = (await read(socket, (bytes) => endOfHead(bytes))).toString("latin1");
  const status = /^HTTP\/1\.[01] ([0-9]{3})(.*)/.exec(head);
  if (status?.[1] !== "200") {
    throw new Error(
      `the proxy ${proxy.host} refused the connection: ${status ? status[1]! + status[2]! : head}`.trim(),
    );
  }
}

function endOfHead(bytes: Buffer): number | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  return end < 0 ? undefined : end + 4;
}

/** RFC 1928 and, for a login, RFC 1929. */
async function askSocks(socket: Socket, proxy: URL, host: string, port: number): Promise<void> {
  const login = proxy.username !== "";
  socket.write(Uint8Array.of(5, 1, login ? 2 : 0));
  const [, method] = await read(socket, atLeast(2));
  if (method === 2 && login) {
    const user = Buffer.from(decodeURIComponent(proxy.username));
    const password = Buffer.from(decodeURIComponent(proxy.password));
    socket.write(Buffer.concat([Uint8Array.of(1, user.length), user, Uint8Array.of(password.length), password]));
    const [, verdict] = await read(socket, atLeast(2));
    if (verdict !== 0) throw new Error(`the proxy ${proxy.host} rejects the credentials`);
  } else if (method !== 0) {
    throw new Error(`the proxy ${proxy.host} requires credentials, but its URL has none`);
  }
  const name = Buffer.from(host);
  const place = Buffer.from([port >>> 8, port & 0xff]);
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0, 3, name.length), name, place]));
  const reply = await read(socket, (bytes) => {
    if (bytes.length < 5) return undefined;
    const length = bytes[3] === 1 ? 4 : bytes[3] === 4 ? 16 : bytes[4]! + 1;
    return bytes.length >= 6 + length ? 6 + length : undefined;
  });
  if (reply[1] !== 0) throw new Error(`the proxy ${proxy.host} cannot reach ${host}:${port} (SOCKS reply ${reply[1]})`);
}

const atLeast = (length: number) => (bytes: Buffer) => (bytes.length >= length ? length : undefined);

/** Reads until `complete` says how long the message is; what comes after it stays in the socket. */
function read(socket: Socket, complete: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const finish = () => {
      socket.off("readable", onReadable);
      socket.off("error", onError);
      socket.off("end", onEnd);
    };
    const onReadable = () => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
        const length = complete(bytes);
        if (length === undefined) continue;
        finish();
        if (bytes.length > length) socket.unshift(bytes.subarray(length));
        resolve(bytes.subarray(0, length));
        return;
      }
    };
    const onError = (error: Error) => {
      finish();
      reject(error);
    };
    const onEnd = () => onError(new Error("the proxy closed the connection"));
    socket.on("readable", onReadable);
    socket.once("error", onError);
    socket.once("end", onEnd);
    onReadable();
  });
}
