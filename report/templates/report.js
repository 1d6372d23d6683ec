// The page is readable without this script. It sorts tables by a column and opens the target of a link.
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
