/**
 * YAML as Kubernetes reads and writes it. Reading follows its Go library (YAML 1.1: `on` is true), because that is what
 * the same file means to kubectl; writing gives what `kubectl get -o yaml` would. Errors name the line.
 */
export { type ParseYamlOptions, parseYaml, parseYamlDocument, type YamlDocument } from "./parse-yaml.ts";
export { printYaml } from "./print-yaml.ts";
export { YamlError } from "./yaml-error.ts";
