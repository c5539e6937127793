/** What all interpreted containers of a cluster together may hold: they live in the memory of this process. */
const LARGEST_TOTAL = 128 * 1024 * 1024;
/** The longest single text (a variable, a line, a word): JavaScript handles each in one go. */
const LARGEST_TEXT = 8 * 1024 * 1024;

/** Thrown in a process of a container that is killed for lack of memory: nothing must catch it and continue. */
export class OutOfMemory extends Error {
  override readonly name = "OutOfMemory";

  constructor() {
    super("out of memory");
  }
}

/** The memory that the interpreted containers of a cluster share. When there is no more, the largest of them is killed. */
export class MemoryPool {
  readonly #members = new Set<ContainerMemory>();
  #used = 0;

  add(member: ContainerMemory): void {
    this.#members.add(member);
  }

  /** Releases all memory of a container. */
  remove(member: ContainerMemory): void {
    if (this.#members.delete(member)) this.#used -= member.used;
  }

  changed(bytes: number): void {
    this.#used += bytes;
    if (this.#used <= LARGEST_TOTAL) return;
    let largest: ContainerMemory | undefined;
    for (const member of this.#members) if (!largest || member.used > largest.used) largest = member;
    largest?.kill();
  }
}

/** What one container holds in memory: variables, pipes, what its commands have read. Over its limit it is killed. */
export class ContainerMemory {
  /** In bytes. */
  limit = Number.POSITIVE_INFINITY;
  readonly #pool: MemoryPool;
  readonly #end: () => void;
  #used = 0;
  #isKilled = false;
  #isClosed = false;

  constructor(pool: MemoryPool, end: () => void) {
    this.#pool = pool;
    this.#end = end;
    pool.add(this);
  }

  get used(): number {
    return this.#used;
  }

  /** It was killed for lack of memory. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Memory for a process, a shell or a command, released as a whole. */
  open(): Holding {
    return new Holding(this);
  }

  change(bytes: number): void {
    if (!this.#isClosed) {
      this.#used += bytes;
      this.#pool.changed(bytes);
      if (this.#used > this.limit) this.kill();
    }
    // A process that has been killed may still be on its way out.
    if (this.#isClosed && bytes > 0) throw new OutOfMemory();
  }

  kill(): void {
    if (this.#isClosed) return;
    this.#isKilled = true;
    this.close();
    this.#end();
  }

  /** The container has ended. */
  close(): void {
    this.#isClosed = true;
    this.#pool.remove(this);
    this.#used = 0;
  }
}

/** A part of a container's memory. */
export class Holding {
  readonly #memory: ContainerMemory;
  #bytes = 0;

  constructor(memory: ContainerMemory) {
    this.#memory = memory;
  }

  /** Counts what is about to be held. Throws {@link OutOfMemory} when it is too much: the container is killed. */
  hold(bytes: number): void {
    this.#bytes += bytes;
    this.#memory.change(bytes);
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#memory.change(-bytes);
  }

  /** Also throws when a text would be too long for this process. */
  checkText(length: number): void {
    if (length <= LARGEST_TEXT) return;
    this.#memory.kill();
    throw new OutOfMemory();
  }

  /** More memory of the same container, released separately. */
  open(): Holding {
    return this.#memory.open();
  }

  close(): void {
    this.release(this.#bytes);
  }
}
