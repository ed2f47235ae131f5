// The inputs of a "what if": one for each field of the schema, or each column.
import { kMissing, kOther } from "./columns.js";
import { el, near } from "./format.js";
import { readingOf } from "./inputs.js";

function numberField(field, id, values, changed) {
  const reads = readingOf(field);
  const { low, high, step } = field;
  const shown = (value) => (reads.type === "number" ? near(value, step * 10).replace(/,/g, "").replace("−", "-") : reads.text(value));
  const input = el("input", { id, type: reads.type, step: "any", placeholder: field.optional ? "not known" : "a number" });
  const slider = el("input", { type: "range", min: low, max: high, step, "aria-label": `${field.name}, slider` });
  const set = (value) => {
    values.set(field.name, value);
    changed();
  };
  input.addEventListener("input", () => {
    let value = reads.value(input.value);
    if (value !== null && !Number.isFinite(value)) value = null;
    if (value !== null) slider.value = value;
    if (value !== null || field.optional) set(value);
  });
  // One that must be known stays what it was, and says so.
  input.addEventListener("change", () => {
    if (!field.optional && input.value === "") input.value = shown(values.get(field.name));
  });
  slider.addEventListener("input", () => {
    const value = reads.round(Number(slider.value));
    input.value = shown(value);
    set(value);
  });
  const note = field.today ? [el("span", { class: "fine" }, "Today at first: the schema knows only its waves.")] : [];
  return {
    nodes: [input, slider, ...note],
    show: (value) => {
      input.value = value === null ? "" : shown(value);
      slider.value = value ?? (low + high) / 2;
    },
  };
}

function choiceField(field, id, values, changed, options) {
  const select = el("select", { id }, ...options.map(([value, text]) => el("option", { value: JSON.stringify(value) }, text)));
  select.addEventListener("change", () => {
    values.set(field.name, JSON.parse(select.value));
    changed();
  });
  return { nodes: [select], show: (value) => { select.value = JSON.stringify(value); } };
}

function optionsOf(field) {
  const missing = field.optional ? [[field.kind === "category" ? kMissing : null, "not known"]] : [];
  if (field.kind !== "category") return [[0, "no"], [1, "yes"], ...missing];
  const other = field.refuses ? [] : [[kOther, "any other"]];
  return [...field.categories.map((c) => [c, c]), ...other, ...missing];
}

// Fills `host`; `values` (by name) changes as the user types, and `changed()` is called. Returns
// show(values), which writes them into the inputs.
export function makeFields(host, fields, values, changed) {
  const made = fields.map((field, i) => {
    const id = `field-${i}`;
    const choice = field.kind === "category" || field.reads === "boolean";
    const input = choice ? choiceField(field, id, values, changed, optionsOf(field)) : numberField(field, id, values, changed);
    const row = el("div", { class: "field", "data-name": field.name.toLowerCase() }, el("label", { for: id }, field.name), ...input.nodes);
    return { field, row, show: input.show };
  });
  host.replaceChildren(...made.map((m) => m.row));
  return () => made.forEach((m) => m.show(values.get(m.field.name)));
}

// For models of very many columns without names: "3=1.5 7=2", counted from 1.
export function makeText(host, fields, values, changed) {
  const input = el("input", { id: "field-text", type: "text", placeholder: "3=1.5 7=-2", spellcheck: "false" });
  const note = el("span", { class: "fine", role: "status" });
  input.addEventListener("input", () => {
    fields.forEach((field) => values.set(field.name, 0));
    const parts = input.value.split(/[\s,;]+/).filter((part) => part !== "");
    const wrong = parts.find((part) => {
      const [, place, value] = /^x?(\d+)=([-+.\deE]+)$/.exec(part) ?? [];
      if (place === undefined || place < 1 || place > fields.length || !Number.isFinite(Number(value))) return true;
      values.set(fields[place - 1].name, Number(value));
      return false;
    });
    note.textContent = wrong === undefined ? "" : `“${wrong}” is not NUMBER=VALUE with a number from 1 to ${fields.length}.`;
    changed();
  });
  host.replaceChildren(el("div", { class: "field text" }, el("label", { for: "field-text" }, "columns, all others 0"), input, note));
  return () => { input.value = ""; note.textContent = ""; };
}
