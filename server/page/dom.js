// Elements made of text and other elements: nothing is ever parsed as HTML, so that all text is escaped.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (onclick, ...) and children; those that are null or false are left out. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
export function svgElement(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...present(children));
  return node;
}

/** The children that are there, of which some may be lists. */
function present(children) {
  return children.flat().filter((child) => child !== null && child !== undefined && child !== false);
}

/** Put children in the place of those that an element has. */
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
}

/** A share as people read it. */
export function percent(share) {
  return `${Math.floor(share * 100)} %`;
}

/** A table with a header; cells are text, numbers (which stand right) or elements. */
export function table(header, rows, attributes = {}) {
  const head = element("tr", {}, header.map((cell) => element("th", { scope: "col" }, cell)));
  return element(
    "div",
    { class: "scroll" },
    element("table", attributes, element("thead", {}, head), element("tbody", {}, rows.map((row) => tableRow(row)))),
  );
}

function tableRow(cells) {
  return element("tr", {}, cells.map((cell) => {
    const isNumber = typeof cell === "number";
    const isText = typeof cell === "string";
    return element("td", { class: isNumber ? "number" : null, dir: isText ? "auto" : null }, isNumber ? score(cell) : cell);
  }));
}

/** A score for people: always with its sign, and a minus that is as wide as a plus. */
export function score(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** The element of that id. */
export function byId(id) {
  return document.getElementById(id);
}
