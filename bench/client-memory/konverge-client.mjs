// Lists the namespaces with Konverge's client, says how many there are and waits.
import { connect } from "@konverge/client";

const Namespace = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const client = await connect();
const { items } = await client.list(Namespace);
console.log(items.length);
process.stdin.resume();
