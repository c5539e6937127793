import type { Clock } from "@konverge/core";
import { type Credential, certificatesIn, createAuthority, factsOf, issueServing } from "./authority.ts";

/** All that is kept about the certificates of a service. */
export interface CertificateMaterial {
  /** The authorities that callers shall trust, PEM, the newest last. */
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
 * nothing. When everybody has had time to hear of it (the overlap), the serving certificate is signed by it. The old
 * authority is trusted for another overlap, for servers that still show the old certificate, and then dropped.
 *
 * Guarantees: at any time the certificate that is served, and the one served before it, are signed by an authority in the
 * bundle, provided that this is asked more often than the overlap.
 */
export async function rotated(
  known: CertificateMaterial | undefined,
  options: CertificateRotationOptions,
): Promise<CertificateMaterial> {
  const { clock, hosts, overlap = DAY } = options;
  const now = clock.now();
  const authorities = known ? certificatesIn(known.bundle) : [];
  const newest = authorities.at(-1);
  if (!known || !newest || factsOf(newest).until <= now) return await afresh(options);
  if (isOld(newest, now)) {
    const next = await createAuthority(clock, options.name, options.authorityLifetime ?? 730 * DAY);
    return { ...known, bundle: [...authorities, next.cert].join(""), authorityKey: next.key };
  }
  const trustedFor = now - bornAt(newest);
  const serving = factsOf(known.serving.cert);
  const signer = authorities.find((one) => serving.signedBy(one));
  const mayMove = trustedFor >= overlap || signer === undefined;
  const rightHosts = hosts.every((host) => serving.hosts.includes(host));
  if (serving.until <= now || !rightHosts || (mayMove && (signer !== newest || isOld(known.serving.cert, now)))) {
    const authority = { cert: newest, key: known.authorityKey };
    return { ...known, serving: await issueServing(clock, authority, hosts, options.servingLifetime ?? 90 * DAY) };
  }
  const dropOld = authorities.length > 1 && signer === newest && now - bornAt(known.serving.cert) >= overlap;
  return dropOld ? { ...known, bundle: newest } : known;
}

async function afresh(options: CertificateRotationOptions): Promise<CertificateMaterial> {
  const { clock, name, hosts } = options;
  const authority = await createAuthority(clock, name, options.authorityLifetime ?? 730 * DAY);
  const serving = await issueServing(clock, authority, hosts, options.servingLifetime ?? 90 * DAY);
  return { bundle: authority.cert, authorityKey: authority.key, serving };
}

/** Certificates are dated back by an hour. */
const bornAt = (pem: string) => factsOf(pem).from + 3_600_000;

function isOld(pem: string, now: number): boolean {
  const { until } = factsOf(pem);
  const from = bornAt(pem);
  return now >= from + (until - from) * RENEW_AFTER;
}
