import { FileError } from "../file-error.ts";

/** What the files of all interpreted containers of a cluster together may take: they live in memory. */
const LARGEST_TOTAL = 256 * 1024 * 1024;
/** The content of all files of one volume or container. */
const LARGEST = 32 * 1024 * 1024;
/** Files and directories of one volume or container. Listing them is done in one go. */
const MOST_FILES = 16_384;
/** What a file takes besides its content. */
const INODE = 512;

/** The disk that all simulated nodes of a cluster share. */
export class Disk {
  #used = 0;

  take(bytes: number): boolean {
    if (this.#used + bytes > LARGEST_TOTAL) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

export interface StorageOptions {
  /** More than this cannot be written, as on a tmpfs with a size. */
  readonly size?: number;
  /** Over this the pod may be evicted. */
  readonly limit?: number;
  /** Called when the limit is passed. */
  exceeded?(): void;
}

/**
 * The files of one volume, or of a container outside of volumes, counted. What is there from the start (the image, what the
 * cluster fills) is not; removing it gives nothing back.
 */
export class Storage {
  readonly #disk: Disk;
  readonly #options: StorageOptions;
  #bytes = 0;
  #files = 0;

  constructor(disk: Disk, options: StorageOptions = {}) {
    this.#disk = disk;
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get #isOverLimit(): boolean {
    return this.#bytes > (this.#options.limit ?? Number.POSITIVE_INFINITY);
  }

  /** Counts what is about to be written to a path. Throws when there is no space left. */
  take(path: string, bytes: number, files = 0): void {
    const fits = this.#bytes + bytes <= Math.min(LARGEST, this.#options.size ?? LARGEST);
    if (!fits || this.#files + files > MOST_FILES || !this.#disk.take(bytes + files * INODE))
      throw new FileError("ENOSPC", path);
    const wasOver = this.#isOverLimit;
    this.#bytes += bytes;
    this.#files += files;
    if (!wasOver && this.#isOverLimit) this.#options.exceeded?.();
  }

  give(bytes: number, files = 0): void {
    const [freed, removed] = [Math.min(bytes, this.#bytes), Math.min(files, this.#files)];
    this.#bytes -= freed;
    this.#files -= removed;
    this.#disk.give(freed + removed * INODE);
  }

  /** The volume is deleted. */
  free(): void {
    this.give(this.#bytes, this.#files);
  }
}
