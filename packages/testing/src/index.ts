/** Tests of operators on an embedded cluster. */
export { type Cluster, type ClusterOptions, startCluster } from "@konverge/cluster";
