// Text in fields that the page changes: by the browser's own editing, so that Ctrl+Z takes it back as if it was typed.

/** Put `text` in the place of all that a field has. */
export function replaceText(field, text) {
  field.focus();
  field.select();
  insert(field, text);
}

/** Put `text` behind what a field has. */
export function appendText(field, text) {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  insert(field, text);
}

function insert(field, text) {
  const isDone = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
  if (!isDone && field.value !== text) field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
}

/** Let Enter call `act` where nothing is being composed; what is pasted has spaces in place of line breaks. */
export function onEnter(field, act) {
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.defaultPrevented) return;
    event.preventDefault();
    act();
  });
}

/** The text of a field in one line. */
export function oneLine(text) {
  return text.trim().replace(/\s*\n\s*/g, " ");
}

/** Put a text on the clipboard. */
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea"); // pages by http have no other way
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  return undefined;
}
