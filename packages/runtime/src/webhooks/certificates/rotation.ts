import { Authority, BACKDATED, type Credential, createAuthority } from "@konverge/certificates";
import type { Clock } from "@konverge/core";
import { certificatesIn, factsOf } from "./certificate-facts.ts";

/** All that is kept about the certificates of a service. */
export interface CertificateMaterial {
  /** The authorities for callers to trust, PEM, the newest last. */
  readonly bundle: string;
  /** The key of the newest authority. */
  readonly authorityKey: string;
  readonly serving: Credential;
}

export interface CertificateRotationOptions {
  clock: Clock;
  /** Names the authority. */
  name: string;
  /** The names and addresses under which the service is reached. */
  hosts: readonly string[];
  /** Milliseconds that an authority lasts. Default: two years. */
  authorityLifetime?: number;
  /** Milliseconds that a serving certificate lasts. Default: 90 days. */
  servingLifetime?: number;
  /** Milliseconds that a new authority is trusted before it signs, so that everybody has heard of it. Default: a day. */
  overlap?: number;
}

const DAY = 86_400_000;
/** The part of a lifetime after which something is renewed. */
const RENEW_AFTER = 2 / 3;

/**
 * What the certificates should be now; the same material, if they are as they should be.
 *
 * Flow: an authority that has lived two thirds of its life gets a successor, which is trusted from then on but signs
 * nothing. When all clients have had time to load it (the overlap), the serving certificate is signed by it. The old
 * authority is trusted for another overlap, for servers that still show the old certificate, and then dropped.
 *
 * Guarantees: at any time the certificate that is served, and the one served before it, are signed by an authority in
 * the bundle, provided that this is asked more often than the overlap.
 */
export function rotated(
  known: CertificateMaterial | undefined,
  options: CertificateRotationOptions,
): CertificateMaterial {
  const { clock, hosts, overlap = DAY } = options;
  const now = clock.now();
  const authorities = known ? certificatesIn(known.bundle) : [];
  const newest = authorities.at(-1);
  if (!known || !newest || factsOf(newest).until <= now) return afresh(options);
  if (isOld(newest, now)) {
    const next = newAuthority(options);
    return { ...known, bundle: [...authorities, next.cert].join(""), authorityKey: next.key };
  }
  const trustedFor = now - bornAt(newest);
  const serving = factsOf(known.serving.cert);
  const signer = authorities.find((one) => serving.signedBy(one));
  const mayMove = trustedFor >= overlap || signer === undefined;
  const rightHosts = hosts.every((host) => serving.hosts.includes(host));
  if (serving.until <= now || !rightHosts || (mayMove && (signer !== newest || isOld(known.serving.cert, now)))) {
    const authority = { cert: newest, key: known.authorityKey };
    return { ...known, serving: servingFor(new Authority(authority, clock), options) };
  }
  const dropOld = authorities.length > 1 && signer === newest && now - bornAt(known.serving.cert) >= overlap;
  return dropOld ? { ...known, bundle: newest } : known;
}

function afresh(options: CertificateRotationOptions): CertificateMaterial {
  const authority = newAuthority(options);
  return { bundle: authority.cert, authorityKey: authority.key, serving: servingFor(authority, options) };
}

function newAuthority({ clock, name, authorityLifetime = 730 * DAY }: CertificateRotationOptions): Authority {
  // Authorities of the same service have different names, so that the reader of a bundle can tell them apart.
  return createAuthority(clock, { name: `${name} ${clock.random.uuid().slice(0, 8)}`, lifetime: authorityLifetime });
}

function servingFor(
  authority: Authority,
  { hosts, servingLifetime = 90 * DAY }: CertificateRotationOptions,
): Credential {
  return authority.server(hosts[0]!.slice(0, 64), hosts, servingLifetime);
}

const bornAt = (pem: string) => factsOf(pem).from + BACKDATED;

function isOld(pem: string, now: number): boolean {
  const { until } = factsOf(pem);
  const from = bornAt(pem);
  return now >= from + (until - from) * RENEW_AFTER;
}
