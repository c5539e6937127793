export * from "@konverge/client";
