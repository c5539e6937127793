/** Who is at the other end of a connection, as far as the connection itself shows. It never comes from headers. */
export interface Peer {
  /** The address of the other end; empty for a caller in the same process. */
  readonly address: string;
  /** The client certificate that was shown, if any. */
  readonly certificate?: PeerCertificate;
}

/** What a client certificate says of its owner, and whether to believe it. */
export interface PeerCertificate {
  /** Why it is not to be believed: another authority signed it, it has expired …; undefined when it is good. */
  readonly problem?: string;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the whole certificate, hexadecimal. */
  readonly fingerprint: string;
}
