const WORDS = {
  ENOENT: "No such file or directory",
  EACCES: "Permission denied",
  EEXIST: "File exists",
  ENOTDIR: "Not a directory",
  EISDIR: "Is a directory",
  ENOTEMPTY: "Directory not empty",
  EROFS: "Read-only file system",
  EBUSY: "Device or resource busy",
  ENOSPC: "No space left on device",
  ENAMETOOLONG: "File name too long",
  EINVAL: "Invalid argument",
  ELOOP: "Too many levels of symbolic links",
} as const;

export type FileErrorCode = keyof typeof WORDS;

/** An error of a file operation, with the message that programs print. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly code: FileErrorCode;
  readonly path: string;

  constructor(code: FileErrorCode, path: string) {
    super(WORDS[code]);
    this.code = code;
    this.path = path;
  }
}

/** Why output could not be written to its file. */
export class WriteError extends Error {
  override readonly name = "WriteError";

  constructor(cause: FileError) {
    super(`write error: ${cause.message}`, { cause });
  }
}
