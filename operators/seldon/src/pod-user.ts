import type { PodSpec } from "konverge/kinds";
import { restrictedPodSpec } from "konverge/pods";

/** As whom pods run unless they say otherwise: the default of upstream's charts. */
const USER = 8888;

/** A pod of a SeldonDeployment with the defaults for its security. */
export const secured = (spec: PodSpec): PodSpec => restrictedPodSpec(spec, { user: USER });
