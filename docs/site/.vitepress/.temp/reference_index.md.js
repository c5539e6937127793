import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Reference","description":"","frontmatter":{},"headers":[],"relativePath":"reference/index.md","filePath":"reference/index.md"}');
const _sfc_main = { name: "reference/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="reference" tabindex="-1">Reference <a class="header-anchor" href="#reference" aria-label="Permalink to &quot;Reference&quot;">​</a></h1><table tabindex="0"><thead><tr><th>page</th><th>contents</th></tr></thead><tbody><tr><td><a href="/reference/kinds.html">Kinds</a></td><td>options of <code>defineKind</code>, how Zod schemas become CRDs, what is rejected</td></tr><tr><td><a href="/reference/client.html">Client</a></td><td>verbs, options, errors, retries, watches, connections</td></tr><tr><td><a href="/reference/values.html">Values</a></td><td>quantities, durations, selectors, JSONPath, conditions, readiness, clocks</td></tr><tr><td><a href="/reference/runtime.html">Runtime</a></td><td>options of controllers and managers, errors, conditions, annotations, permissions, metrics, recordings</td></tr><tr><td><a href="/reference/cli.html">The command</a></td><td>the <code>konverge</code> commands and their options</td></tr><tr><td><a href="/reference/differential.html">The differential suite</a></td><td>how the embedded API server is compared with a real one, how to write a script, how to read a difference</td></tr><tr><td><a href="/reference/conformance.html">Conformance</a></td><td>which of Kubernetes&#39; own specs pass, on the embedded cluster and on a real control plane</td></tr><tr><td><a href="/reference/operator-tests.html">Operator tests</a></td><td>the test environment and the survival tests</td></tr><tr><td><a href="/reference/versions.html">Supported versions</a></td><td>supported Kubernetes and Node versions</td></tr><tr><td><a href="/reference/checklist.html">Checklist</a></td><td>the requirements of the operators, and the checks of each</td></tr><tr><td><a href="/reference/api/">API</a></td><td>every entry point of the published packages, with declarations and comments</td></tr></tbody></table><p>The <a href="/">guide</a> explains how to use all this.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
