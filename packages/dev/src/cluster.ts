export * from "@konverge/cluster";
