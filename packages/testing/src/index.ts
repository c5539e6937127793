/** Tests of operators on an embedded cluster. */
export type { Cluster } from "@konverge/cluster";
