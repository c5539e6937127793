import { Duplex, duplexPair } from "node:stream";

type Accept = (connection: Duplex, from: string) => void;
type Reply = (data: Uint8Array, from: string) => Promise<Uint8Array | undefined>;

/** The listeners in pods without a port of this machine: programs in simulated containers. */
export class Listeners {
  readonly #accepting = new Map<string, Accept>();
  readonly #replying = new Map<string, Reply>();

  /** Accepts connections to a port of a pod. Ends with the function it returns. */
  listen(uid: string, port: number, accept: Accept): () => void {
    return hold(this.#accepting, `${uid} ${port}`, accept);
  }

  /** Answers datagrams to a port of a pod. */
  answer(uid: string, port: number, reply: Reply): () => void {
    return hold(this.#replying, `${uid} ${port}`, reply);
  }

  /** A connection to a port of a pod; undefined when nothing listens there. */
  connect(uid: string, port: number, from: string): Duplex | undefined {
    const accept = this.#accepting.get(`${uid} ${port}`);
    return accept && connectionTo(accept, from);
  }

  /** What comes back for a datagram; undefined when nothing does. */
  async ask(uid: string, port: number, data: Uint8Array, from: string): Promise<Uint8Array | undefined> {
    return this.#replying.get(`${uid} ${port}`)?.(data, from);
  }

  accepts(uid: string, port: number): boolean {
    return this.#accepting.has(`${uid} ${port}`);
  }

  replies(uid: string, port: number): boolean {
    return this.#replying.has(`${uid} ${port}`);
  }
}

/** A connection whose other end something accepts. */
export function connectionTo(accept: Accept, from: string): Duplex {
  const [near, far] = duplexPair();
  for (const [end, other] of [
    [near, far],
    [far, near],
  ] as const) {
    end.on("error", () => {});
    // Why an end closes is not known to the other: for `duplexPair` an error would be a reason to drop what is not read yet.
    end.destroy = () => Duplex.prototype.destroy.call(end);
    end.once("close", () => close(other));
  }
  accept(far, from);
  return near;
}

/** Closes an end whose other end has closed. As with a socket, what was sent before that is still read, then comes the end. */
function close(end: Duplex): void {
  const isRead = end.readableFlowing === true || end.listenerCount("readable") > 0;
  if (!isRead || end.readableEnded) {
    end.destroy();
    return;
  }
  end.once("end", () => end.destroy());
  end.push(null);
}

function hold<T>(known: Map<string, T>, key: string, value: T): () => void {
  if (known.has(key)) throw new Error(`listen tcp :${key.split(" ")[1]}: bind: address already in use`);
  known.set(key, value);
  return () => {
    if (known.get(key) === value) known.delete(key);
  };
}
