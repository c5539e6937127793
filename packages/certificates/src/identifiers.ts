/** The object identifiers of what certificates consist of. */

export const COMMON_NAME = "2.5.4.3";
export const ORGANIZATION = "2.5.4.10";

export const SUBJECT_KEY_ID = "2.5.29.14";
export const KEY_USAGE = "2.5.29.15";
export const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
export const BASIC_CONSTRAINTS = "2.5.29.19";
export const NAME_CONSTRAINTS = "2.5.29.30";
export const CRL_DISTRIBUTION_POINTS = "2.5.29.31";
export const CERTIFICATE_POLICIES = "2.5.29.32";
export const POLICY_MAPPINGS = "2.5.29.33";
export const AUTHORITY_KEY_ID = "2.5.29.35";
export const POLICY_CONSTRAINTS = "2.5.29.36";
export const EXTENDED_KEY_USAGE = "2.5.29.37";
export const INHIBIT_ANY_POLICY = "2.5.29.54";
export const AUTHORITY_INFO_ACCESS = "1.3.6.1.5.5.7.1.1";

export const ANY_PURPOSE = "2.5.29.37.0";
export const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
export const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/** The attribute of a certificate request that lists the extensions it asks for. */
export const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

export const RSA_KEY = "1.2.840.113549.1.1.1";
export const DSA_KEY = "1.2.840.10040.4.1";
export const EC_KEY = "1.2.840.10045.2.1";
export const ED25519 = "1.3.101.112";

export const RSA_WITH_SHA256 = "1.2.840.113549.1.1.11";
export const RSA_PSS = "1.2.840.113549.1.1.10";
export const MASK_GENERATION_1 = "1.2.840.113549.1.1.8";
export const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
