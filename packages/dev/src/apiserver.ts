export * from "@konverge/apiserver";
