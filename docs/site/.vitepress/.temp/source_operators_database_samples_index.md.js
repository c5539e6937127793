import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Samples","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/operators/database/samples/index.md","filePath":"source/operators/database/samples/index.md"}');
const _sfc_main = { name: "source/operators/database/samples/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="samples" tabindex="-1">Samples <a class="header-anchor" href="#samples" aria-label="Permalink to &quot;Samples&quot;">​</a></h1><p><code>operators/database/samples</code>, part of <a href="/operators/database/">Database operator</a></p><ul><li><a href="/source/operators/database/samples/backup.yaml.html">backup.yaml</a></li><li><a href="/source/operators/database/samples/database.yaml.html">database.yaml</a></li><li><a href="/source/operators/database/samples/replicated.yaml.html">replicated.yaml</a></li><li><a href="/source/operators/database/samples/restore.yaml.html">restore.yaml</a></li><li><a href="/source/operators/database/samples/with-backups.yaml.html">with-backups.yaml</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/operators/database/samples/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
