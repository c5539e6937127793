import type { Container, Pod } from "@konverge/kinds";
import type { LocalAddress } from "../streams/exposed-ports.ts";
import type { PortConnection } from "../streams/pod-network.ts";
import type { Command, Room } from "../userland/process.ts";
import type { ContainerBehavior } from "./behavior.ts";
import { isPauseImage, isPlainImage } from "./plain-images.ts";

/**
 * What a program that plays a container works with.
 *
 * Anyone who can create pods chooses all of it but the signals. Treat it as untrusted input: never import, execute or open
 * what a command, an arg, a variable or a file names.
 */
export interface ContainerProcess {
  readonly pod: Pod;
  readonly container: Container;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The files in the container's volumes (ConfigMaps, Secrets, tokens, downward API), by absolute path. */
  readonly files: ReadonlyMap<string, string>;
  /** A folder in which each of these files lies under its path, kept up to date; gone when the container has ended. */
  folder(): Promise<string>;
  /** Says where on this machine the program listens for a port of its pod: at the first of these that accepts connections. */
  expose(port: number, ...addresses: readonly LocalAddress[]): void;
  /** Adds to the pod's log. */
  write(text: string): void;
  /** Reports a problem with the container as a Warning event of its pod. */
  warn(reason: string, message: string): void;
  /** Aborts when the container has to stop. */
  readonly stop: AbortSignal;
  /** Aborts when the container has ended, even if it ignores `stop`. */
  readonly killed: AbortSignal;
}

/** A program that plays a container: resolves to its exit code (nothing: 0); a throw is logged and counts as 1. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is one that succeeds
export type Program = (process: ContainerProcess) => Promise<number | void>;

/** A command that is executed in a running container. */
export interface ExecSession {
  readonly pod: Pod;
  readonly container: string;
  readonly command: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array>;
  /** What it returns, if anything, resolves when the client has taken enough that there is room for more. */
  stdout(text: string | Uint8Array): Room;
  stderr(text: string | Uint8Array): Room;
  readonly signal: AbortSignal;
}

/** What is known about an image. */
export interface Image extends ContainerBehavior {
  /**
   * Runs in place of the container, in the process of the cluster and with all that this process can do. Without it the
   * container only seems to run. Its args and its environment are a pod's, and so untrusted: anyone who can create pods chooses
   * them.
   */
  run?: Program;
  /** Answers `kubectl exec`: resolves to the exit code. */
  exec?(session: ExecSession): Promise<number>;
  /** Answers `kubectl port-forward`. */
  connect?(connection: PortConnection): Promise<void>;
  /** What its containers run in their simulated userland when they name no command. */
  entrypoint?: readonly string[];
  /** And with which arguments, when they name none. */
  cmd?: readonly string[];
  /** Programs of the image, by path or name, besides those that every simulated image has. */
  commands?: Readonly<Record<string, Command>>;
  /**
   * Those of its commands that belong to root and have the setuid bit: they run as root for every user, unless the
   * container sets `allowPrivilegeEscalation: false`.
   */
  setuid?: readonly string[];
  /** Files of the image, by path. */
  files?: Readonly<Record<string, string>>;
  /** The user that its containers run as when they name none. Default: 0. */
  user?: number;
  workingDir?: string;
}

/** Which images a cluster knows, and what it does with others. */
export interface ImagesOptions {
  /**
   * Refuse images that are not registered: their containers stay in ErrImagePull and ImagePullBackOff, as with a misspelled
   * name. Plain images (busybox, alpine, bash, debian, ubuntu) and pause need not be registered. Default: false, containers of
   * other images seem to run.
   */
  strictImages?: boolean;
  /** Images of which containers seem to run: `registry/name:tag` for one tag, without a tag for all. */
  images?: readonly string[];
  /** How containers behave unless their image or the annotations of their pod say otherwise. Default: they start at once. */
  containers?: ContainerBehavior;
}

/** The images that are registered: programs, behavior set in code, and mere names. */
export class Images {
  readonly #known = new Map<string, Image>();
  readonly #names = new Set<string>();
  readonly #isStrict: boolean;
  readonly #containers: ContainerBehavior | undefined;

  constructor({ strictImages = false, images = [], containers }: ImagesOptions = {}) {
    this.#isStrict = strictImages;
    this.#containers = containers;
    for (const name of images) this.register(name);
  }

  /** Registers an image: `registry/name:tag` for one tag, without a tag for all. A mere name changes nothing that is known. */
  register(name: string, image?: Image): void {
    if (image) this.#known.set(name, image);
    else this.#names.add(name);
  }

  /** The same images, to which others can be added. */
  fork(): Images {
    const fork = new Images({
      strictImages: this.#isStrict,
      images: [...this.#names],
      ...(this.#containers && { containers: this.#containers }),
    });
    for (const [name, image] of this.#known) fork.register(name, image);
    return fork;
  }

  /** What is known about an image. One that a strict cluster does not know cannot be pulled. */
  find(reference: string | undefined): Image | undefined {
    const found = this.#find(reference);
    return this.#containers ? { ...this.#containers, ...found } : found;
  }

  #find(reference: string | undefined): Image | undefined {
    if (reference === undefined || (this.#known.size === 0 && !this.#isStrict)) return undefined;
    const known = this.#known.get(reference) ?? this.#known.get(withoutTag(reference));
    if (known || !this.#isStrict || isPlainImage(reference) || isPauseImage(reference)) return known;
    if (this.#names.has(reference) || this.#names.has(withoutTag(reference))) return undefined;
    const failed = `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}"`;
    return { failPull: `${failed}: ${reference}: not found (this cluster accepts registered images only)` };
  }
}

function withoutTag(reference: string): string {
  const [name = ""] = reference.split("@");
  const colon = name.lastIndexOf(":");
  return colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
}
