// The page is readable without this script. It sorts tables by a column, opens the target of a link and, for a printer, everything,
// and lets the keyboard scroll what is wider than the window.
"use strict";
(() => {
  const words = new Intl.Collator("en", { numeric: true });

  // Rows of a table body that move together: a row with the notes below it. Headings of a group do not move.
  function unitsOf(body) {
    const units = [];
    for (const row of body.rows) {
      if (row.querySelector("th[scope=rowgroup]")) continue;
      if (row.classList.contains("notes") && units.length) units.at(-1).push(row);
      else units.push([row]);
    }
    return units;
  }

  // The value of a row in a column: a number, or the text in the first column; null if the cell is empty.
  function valueIn(unit, column) {
    let position = 0;
    for (const cell of unit[0].cells) {
      if (position === column && cell.colSpan === 1) {
        const text = cell.textContent.trim();
        if (column === 0) return text;
        const number = parseFloat(text.replace(/^</, ""));
        return Number.isNaN(number) ? null : number;
      }
      position += cell.colSpan;
    }
    return null;
  }

  function sorted(units, column, sign) {
    const known = units.map((unit) => [valueIn(unit, column), unit]);
    const compare = (a, b) => {
      if (a === null || b === null) return (a === null) - (b === null); // rows without a number come last in both orders
      return sign * (typeof a === "number" ? a - b : words.compare(a, b));
    };
    return known.sort((a, b) => compare(a[0], b[0])).map((pair) => pair[1]);
  }

  function makeSortable(table) {
    const groups = [...table.tBodies].map((body) => [body, unitsOf(body)]);
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const after = { null: "ascending", ascending: "descending", descending: null }[before];
        for (const other of heads) other.removeAttribute("aria-sort");
        if (after) head.setAttribute("aria-sort", after);
        const sign = after === "descending" ? -1 : 1;
        for (const [body, units] of groups) body.append(...(after ? sorted(units, column, sign) : units).flat());
      });
    });
    table.classList.add("sorting");
  }

  // The element that a #fragment names; null if there is no such element.
  function placeOf(hash) {
    try {
      return document.getElementById(decodeURIComponent(hash.slice(1)));
    } catch {
      return null;
    }
  }

  // Opens all closed parts around the target of the address, so that the browser can show it.
  function reveal() {
    const target = placeOf(location.hash);
    if (!target) return;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target.scrollIntoView();
  }

  // Writes at the list of runs which number the reader came from, with its key as text to copy.
  function sayKey(link) {
    const place = placeOf(link.hash);
    const line = place && place.querySelector(".came-from");
    if (!line) return;
    const code = document.createElement("code");
    code.textContent = link.title;
    line.replaceChildren("The number you came from, ", link.textContent.trim(), ", has the key ", code, ".");
  }

  // The name of a box for a reader who cannot see it: its caption, or the heading above it.
  function nameOf(box) {
    const figure = box.closest("figure");
    const caption = box.querySelector("caption") || (figure && figure.querySelector("figcaption"));
    if (caption) return caption.textContent.trim();
    let above = null;
    for (const heading of document.querySelectorAll("h2, h3, summary")) {
      if (heading.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING) above = heading;
    }
    return above ? above.textContent.trim() : document.title;
  }

  // Arrow keys scroll a box that has the focus. A box with links or buttons scrolls to the one that has it.
  function makeScrollable(entries) {
    for (const { target, contentRect } of entries) {
      if (!contentRect.width || target.querySelector("a, button")) continue; // closed parts are not laid out
      const wider = target.scrollWidth > target.clientWidth;
      if (wider === target.hasAttribute("tabindex")) continue;
      const given = { tabindex: "0", role: "group", "aria-label": wider ? nameOf(target) : "" };
      for (const [name, value] of Object.entries(given)) {
        if (wider) target.setAttribute(name, value);
        else target.removeAttribute(name);
      }
    }
  }

  // What was closed when printing began; it is closed again afterwards.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const box of closed) box.open = true;
  });
  addEventListener("afterprint", () => {
    for (const box of closed) box.open = false;
    closed = [];
  });

  const sizes = new ResizeObserver(makeScrollable);
  document.querySelectorAll(".scroll, figure > div, pre").forEach((box) => sizes.observe(box));
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    if (link.title) sayKey(link);
    setTimeout(reveal); // also if the address does not change
  });
  addEventListener("hashchange", reveal);
  reveal();
})();
