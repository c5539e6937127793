import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"007 Validate every kind with one structural-schema validator","description":"","frontmatter":{},"headers":[],"relativePath":"decisions/007-one-validator.md","filePath":"decisions/007-one-validator.md"}');
const _sfc_main = { name: "decisions/007-one-validator.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="007-validate-every-kind-with-one-structural-schema-validator" tabindex="-1">007 Validate every kind with one structural-schema validator <a class="header-anchor" href="#007-validate-every-kind-with-one-structural-schema-validator" aria-label="Permalink to &quot;007 Validate every kind with one structural-schema validator&quot;">​</a></h1><ul><li>Date: <span class="date">2026-11-15</span></li><li>Status: accepted</li></ul><h2 id="context" tabindex="-1">Context <a class="header-anchor" href="#context" aria-label="Permalink to &quot;Context&quot;">​</a></h2><p>A kind is written in Zod, a CRD carries an OpenAPI schema, built-in kinds come as facts. If each validated in its own way, they would disagree in corner cases (lengths in code points, integers against 1.0, which of several failing alternatives is reported, nulls in enums), and corner cases are where an object passes in a test and is refused in production.</p><h2 id="decision" tabindex="-1">Decision <a class="header-anchor" href="#decision" aria-label="Permalink to &quot;Decision&quot;">​</a></h2><p>Everything becomes core&#39;s <code>Schema</code> nodes, the shape of a CRD&#39;s <code>openAPIV3Schema</code>, and <code>schema/structural</code> is the only code that judges an object: <code>coerce</code> (prune, drop nulls, decode embedded metadata), <code>applyDefaults</code>, <code>validate</code>. It follows kube-apiserver 1.36 word for word, including its oversights: a list passes for a string with a format, a fraction matches the integer of an enum it truncates to, no enum matches null. The API server and a kind&#39;s own <code>validate</code> call the same functions.</p><p>A real kube-apiserver judges both. About 550 recorded cases (<code>structural/observed</code>) are compared by the fast tests and renewed by <code>observed.real.test.ts</code> with <code>KONVERGE_RECORD=1</code>. Objects generated from the corpus schemas, valid and invalid, are compared with the server one by one (<code>define-kind.real.test.ts</code>).</p><p>Patterns, and formats with nested repetitions, run in RE2 (re2js), compiled once per schema node: this is the servers&#39; meaning of a pattern, and no input can make it slow.</p><h2 id="consequences" tabindex="-1">Consequences <a class="header-anchor" href="#consequences" aria-label="Permalink to &quot;Consequences&quot;">​</a></h2><ul><li>Zod never sees an object. What a definition says must be expressible in a CRD (decision 008).</li><li>The order of errors is the server&#39;s where the server has one; where it iterates Go maps, ours is the object&#39;s key order.</li><li>JSON parsed with <code>wholeFloats</code> has 1.0 judged as a float; otherwise it counts as the integer 1.</li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/007-one-validator.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const _007OneValidator = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  _007OneValidator as default
};
